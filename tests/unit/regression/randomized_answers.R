# Fit a logistic regression to randomized answers in two ways with base R, and with rr and RRreg where they are there.
# Arguments: a table of answers and covariates, the table of coefficients to write, how people answered.

arguments <- commandArgs(TRUE)
table <- as.matrix(read.csv(arguments[1], header = FALSE))
kind <- arguments[3]
y <- table[, 1]
X <- cbind(1, table[, -1])
honest <- if (kind == "warner") 0.8 else 2 / 3 + 1 / 6  # P("yes") of people for whom it is true; else 1 - honest

logit_shares <- function(beta) as.vector(plogis(X %*% beta))

loglik <- function(beta) {
  share <- logit_shares(beta)
  yes <- honest * share + (1 - honest) * (1 - share)
  sum(log(ifelse(y == 1, yes, 1 - yes)))
}

gradient <- function(beta) {
  share <- logit_shares(beta)
  yes <- honest * share + (1 - honest) * (1 - share)
  slope <- (2 * honest - 1) * share * (1 - share)
  as.vector(crossprod(X, ifelse(y == 1, slope / yes, -slope / (1 - yes))))
}

# The quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno, from zero.
quasi <- optim(rep(0, ncol(X)), loglik, gradient, method = "BFGS", hessian = TRUE,
               control = list(fnscale = -1, maxit = 1000, reltol = 1e-14))
found <- list(optim = quasi$par, "optim se" = sqrt(diag(solve(-quasi$hessian))))

# EM: how probable the property is given the answer, then a weighted logistic regression.
beta <- rep(0, ncol(X))
repeat {
  share <- logit_shares(beta)
  if_true <- ifelse(y == 1, honest, 1 - honest)
  posterior <- if_true * share / (if_true * share + (1 - if_true) * (1 - share))
  following <- suppressWarnings(glm.fit(X, posterior, family = binomial(), start = beta)$coefficients)
  done <- max(abs(following - beta)) < 1e-8
  beta <- following
  if (done) break
}
found$em <- beta

data <- data.frame(y = y, table[, -1])
names(data) <- c("y", paste0("x", seq_len(ncol(X) - 1)))
formula <- reformulate(names(data)[-1], "y")
set.seed(1)
if (requireNamespace("rr", quietly = TRUE)) {
  fit <- suppressWarnings(
    if (kind == "warner") rr::rrreg(formula, p = 0.8, design = "mirrored", data = data)
    else rr::rrreg(formula, p = 2 / 3, q = 1 / 2, design = "unrelated-known", data = data)
  )
  found$rr <- fit$est
}
if (requireNamespace("RRreg", quietly = TRUE)) {
  fit <- if (kind == "warner") RRreg::RRlog(formula, data, "Warner", 0.8)
         else RRreg::RRlog(formula, data, "UQTknown", c(2 / 3, 1 / 2))
  found$RRreg <- fit$coefficients
}
write.csv(do.call(rbind, lapply(found, unname)), arguments[2])
