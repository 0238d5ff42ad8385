# Fit a logistic regression of a seen outcome on a predictor that was answered by Warner's design, with base R:
# the likelihood that rr's rrreg.predictor maximises. Arguments: a table of outcome, answer and covariates; the output.

arguments <- commandArgs(TRUE)
table <- as.matrix(read.csv(arguments[1], header = FALSE))
y <- table[, 1]
answer <- table[, 2]
X <- cbind(1, table[, -(1:2)])
honest <- 0.8  # P("yes") of people for whom it is true; else 1 - honest
k <- ncol(X)

loglik <- function(theta) {
  share <- plogis(X %*% theta[(k + 2):(2 * k + 1)])
  without <- plogis(X %*% theta[1:k])
  with <- plogis(X %*% theta[1:k] + theta[k + 1])
  density <- function(p) ifelse(y == 1, p, 1 - p)
  if_true <- ifelse(answer == 1, honest, 1 - honest)
  sum(log(if_true * share * density(with) + (1 - if_true) * (1 - share) * density(without)))
}

best <- NULL
set.seed(1)
for (start in 1:5) {
  from <- if (start == 1) rep(0, 2 * k + 1) else rnorm(2 * k + 1)
  fit <- optim(from, loglik, method = "BFGS", hessian = TRUE,
               control = list(fnscale = -1, maxit = 2000, reltol = 1e-14))
  if (is.null(best) || fit$value > best$value) best <- fit
}
se <- sqrt(diag(solve(-best$hessian)))
write.csv(rbind(optim = best$par, se = se, value = c(best$value, rep(0, 2 * k))), arguments[2])
