# Exponential survival trees of rpart, and exposures: from the root of the project,
#     Rscript tests/independent/exponential_trees/exponential_trees.R
library(rpart)
library(survival)

folder <- "tests/independent/exponential_trees"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  numbers <- sapply(table, is.double)
  table[numbers] <- lapply(table[numbers], exact)
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

# Predictors are in [0, 1], of few enough digits for single precision.
smooth <- function(n) {
  x <- as.data.frame(matrix(sample(0:4095, 4 * n, replace = TRUE) / 4096, n))
  death <- rexp(n, exp(2 * x$V1 - 1.5 * (x$V2 > 0.6) + x$V3 * x$V1))^0.7
  censoring <- rexp(n, 0.7)
  data.frame(
    time = pmin(death, censoring), event = 1L * (death <= censoring), weight = 1, x
  )
}

# In whole months: many rows have the same time; case weights.
monthly <- function(n) {
  x <- as.data.frame(matrix(sample(0:64, 4 * n, replace = TRUE) / 64, n))
  death <- ceiling(12 * rexp(n, exp(1.5 * abs(2 * x$V1 - 1) - x$V4)))
  censoring <- sample(1:24, n, replace = TRUE)
  data.frame(
    time = pmin(death, censoring), event = 1L * (death <= censoring),
    weight = sample(1:8, n, replace = TRUE) / 4, x
  )
}

grow <- function(data, shrink) {
  rpart(
    Surv(time, event) ~ V1 + V2 + V3 + V4, data, weights = weight, method = "exp", minsplit = 16,
    minbucket = 8, cp = 0, maxcompete = 0, maxsurrogate = 0, usesurrogate = 0, xval = 0,
    parms = list(shrink = shrink), y = TRUE
  )
}

set.seed(7)
tables <- list(smooth = smooth(260), monthly = monthly(220))
rows <- nodes <- paths <- NULL
for (table in names(tables)) {
  data <- tables[[table]]
  for (shrink in c(0, 1, 2)) {
    tree <- grow(data, shrink)
    path <- tree$cptable
    paths <- rbind(paths, data.frame(
      table, shrink, nsplit = as.integer(path[, "nsplit"]), cp = path[, "CP"],
      relative_error = path[, "rel error"]
    ))
    nodes <- rbind(nodes, data.frame(
      table, shrink, node = as.integer(rownames(tree$frame)), variable = as.character(tree$frame$var),
      rows = tree$frame$n, rate = tree$frame$yval, events = tree$frame$yval2[, 2],
      deviance = tree$frame$dev
    ))
  }
  rows <- rbind(rows, data.frame(table, data, exposure = tree$y[, 1]))
}
save(rows, "rows")
save(nodes, "nodes")
save(paths, "paths")

# Rows that come under observation late.  rpart does not scale their times, so the hazard of each
# piece is a coefficient of a Poisson regression on rows that are split at event times.
n <- 80
start <- sample(0:60, n, replace = TRUE) / 8
late <- data.frame(
  start, time = start + sample(1:32, n, replace = TRUE) / 8, event = rbinom(n, 1, 0.6),
  weight = sample(1:8, n, replace = TRUE) / 4, id = 1:n
)
at <- sort(unique(late$time[late$event == 1]))
pieces <- survSplit(
  Surv(start, time, event) ~ ., late, cut = at[-length(at)], episode = "piece"
)
rates <- glm(
  event ~ factor(piece) - 1, quasipoisson, pieces, weights = weight, offset = log(time - start),
  control = list(epsilon = 1e-15, maxit = 100)
)
late$exposure <- as.vector(tapply(fitted(rates), pieces$id, sum))
save(late[names(late) != "id"], "late_rows")
