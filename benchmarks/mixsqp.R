# Rscript mixsqp.R counts.csv fit.csv seconds
# A line of counts.csv is the count of a subset, then its 0/1 row. Times `mixsqp` alone, again and again for `seconds`;
# writes the median seconds of a fit, then the solution to fit.csv, and prints the versions.
arguments <- commandArgs(trailingOnly = TRUE)
library(mixsqp)
table <- as.matrix(read.csv(arguments[1], header = FALSE))
counts <- table[, 1]
rows <- unname(table[, -1])
control <- list(verbose = FALSE, convtol.sqp = 1e-9) # ten times as strict as its default
now <- function() as.numeric(Sys.time())
fit <- mixsqp(rows, counts, control = control)
times <- c()
while (length(times) < 3 || sum(times) < as.numeric(arguments[3])) {
  start <- now()
  fit <- mixsqp(rows, counts, control = control)
  times <- c(times, now() - start)
}
write(format(c(median(times), fit$x), digits = 17), arguments[2], ncolumns = 1)
blas <- basename(extSoftVersion()[["BLAS"]])
cat(sprintf("mixsqp %s in R %s with %s", packageVersion("mixsqp"), getRversion(), blas))
