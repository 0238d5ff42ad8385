# Rscript mixsqp.R counts.csv fit.csv seconds
# A line of counts.csv is the count of a subset, then its 0/1 row. Times `mixsqp` alone, again and again for `seconds`;
# writes the mean processor seconds of a fit, then the solution to fit.csv, and prints the versions.
arguments <- commandArgs(trailingOnly = TRUE)
library(mixsqp)
table <- as.matrix(read.csv(arguments[1], header = FALSE))
counts <- table[, 1]
rows <- unname(table[, -1])
control <- list(verbose = FALSE, convtol.sqp = 1e-9) # ten times as strict as its default
fit <- mixsqp(rows, counts, control = control)
# Processor time comes in milliseconds, so that only many fits together can be timed.
fits <- 0
start <- proc.time()
spent <- 0
while (spent < as.numeric(arguments[3])) {
  fit <- mixsqp(rows, counts, control = control)
  fits <- fits + 1
  spent <- sum((proc.time() - start)[c("user.self", "sys.self")])
}
write(format(c(spent / fits, fit$x), digits = 17), arguments[2], ncolumns = 1)
blas <- basename(extSoftVersion()[["BLAS"]])
cat(sprintf("mixsqp %s in R %s with %s", packageVersion("mixsqp"), getRversion(), blas))
