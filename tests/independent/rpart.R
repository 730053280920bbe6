# Pruning paths and cross-validated errors of rpart: from the root of the project,
#     Rscript tests/independent/rpart.R
library(rpart)

cases <- list(
  diabetes = progression ~ ., breast_cancer = diagnosis ~ ., wine = cultivar ~ .,
  penguins = species ~ ., auto_mpg = mpg ~ ., hitters = salary ~ .
)

read <- function(table, response) {
  file <- file.path("data", paste0(table, ".csv"))
  data <- na.omit(read.csv(file, stringsAsFactors = TRUE, na.strings = ""))
  # a cut, the middle of two numbers, is then no number of a row held out
  predictors <- setdiff(names(data)[sapply(data, is.numeric)], response)
  data[predictors] <- lapply(data[predictors], function(x) exp(x / max(abs(x))))
  data
}

grow <- function(formula, data, folds) {
  method <- if (is.numeric(data[[all.vars(formula)[1]]])) "anova" else "class"
  rpart(
    formula, data, method = method, minsplit = 14, minbucket = 7, cp = 0, maxcompete = 0,
    maxsurrogate = 0, usesurrogate = 0, xval = folds
  )
}

# Where the tree loses several splits at once, the CP that rpart prints can be smaller than the loss
# for each split.  A tree of a fold that is pruned between both is then larger than it should be.
between <- function(cp, path) {
  loss <- -diff(path[, "rel error"]) / diff(path[, "nsplit"])
  printed <- path[-nrow(path), "CP"]
  sapply(cp, function(c) any(c > pmin(loss, printed) - 1e-12 & c < pmax(loss, printed) + 1e-12))
}

exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
paths <- NULL
for (table in names(cases)) {
  data <- read(table, all.vars(cases[[table]])[1])
  folds <- rep_len(1:10, nrow(data))
  path <- grow(cases[[table]], data, folds)$cptable
  cp <- path[, "CP"]
  middle <- c(10, sqrt(cp[-1] * cp[-length(cp)]))
  held_out <- sapply(1:10, function(k) {
    rows <- data[folds != k, ]
    path_of_fold <- grow(cases[[table]], rows, 0)$cptable
    y <- function(d) d[[all.vars(cases[[table]])[1]]]
    root <- function(d) {
      if (is.numeric(y(d))) mean((y(d) - mean(y(d)))^2) else 1 - max(base::table(y(d))) / nrow(d)
    }
    between(middle * root(data) / root(rows), path_of_fold)
  })
  paths <- rbind(paths, data.frame(
    table, leaves = path[, "nsplit"] + 1, cp = exact(cp),
    relative_error = exact(path[, "rel error"]), xerror = exact(path[, "xerror"]),
    xstd = exact(path[, "xstd"]), ambiguous = 1 * apply(held_out, 1, any)
  ))
}
write.csv(paths, "tests/independent/rpart_paths.csv", row.names = FALSE, quote = FALSE)
