# Predictions, errors and importances of the forests of ranger and randomForest: from the root of the
# project, after own_draws.py,
#     Rscript tests/independent/forests.R
library(ranger)
library(randomForest)

here <- "tests/independent"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  write.csv(table, file.path(here, name), row.names = FALSE, quote = FALSE)
}
cases <- list(
  diabetes = progression ~ age + bmi + bp + tc + hdl + ltg + glu,
  breast_cancer = diagnosis ~ mean_texture + mean_smoothness + mean_symmetry + mean_fractal_dimension +
    texture_error + smoothness_error + symmetry_error
)
n <- 200
m <- 40

# The first rows of a table.
read <- function(table, rows) {
  data <- read.csv(file.path("data", paste0(table, ".csv")), stringsAsFactors = TRUE)
  names <- all.vars(cases[[table]])
  data <- data[rows, names]
  # a cut, the middle of two numbers, is then no number of another row
  data[names[-1]] <- lapply(data[names[-1]], function(x) exp(x / max(abs(x))))
  data
}

# The same trees: each is grown on the rows that ours drew, and tries all predictors.
predictions <- NULL
importances <- NULL
for (table in names(cases)) {
  data <- read(table, seq_len(n + m))
  counts <- read.csv(file.path(here, paste0("draws_", table, ".csv")))
  regression <- is.numeric(data[[1]])
  grow <- function(seed) {
    ranger(
      cases[[table]], data[1:n, ], num.trees = ncol(counts), mtry = 7, min.node.size = 1, max.depth = 2,
      inbag = as.list(counts), probability = !regression, importance = "impurity", keep.inbag = TRUE,
      seed = seed, num.threads = 1
    )
  }
  forest <- grow(1)
  # no two predictors tie for a split: then their random order would decide
  for (seed in 2:10) stopifnot(all.equal(grow(seed)$predictions, forest$predictions, tolerance = 1e-12))
  stopifnot(all(unlist(forest$inbag.counts) == unlist(counts)))
  values <- function(found) if (regression) found else found[, "malignant"]
  new <- data[n + 1:m, ]
  predictions <- rbind(
    predictions,
    data.frame(table, rows = "out of bag", value = exact(values(forest$predictions))),
    data.frame(table, rows = "new", value = exact(values(predict(forest, new)$predictions)))
  )
  importances <- rbind(importances, data.frame(
    table, predictor = names(forest$variable.importance), importance = exact(forest$variable.importance)
  ))
}
save(predictions, "ranger_predictions.csv")
save(importances, "ranger_importances.csv")

# Trees of all rows, which randomForest does not split where they have at most so many rows.
nodes <- NULL
for (size in c(20, 50)) {
  data <- read("diabetes", seq_len(n + m))
  tree <- randomForest(
    cases$diabetes, data[1:n, ], ntree = 1, mtry = 7, nodesize = size, replace = FALSE, sampsize = n
  )
  nodes <- rbind(nodes, data.frame(size, value = exact(predict(tree, data[n + 1:m, ]))))
}
save(nodes, "random_forest_tree.csv")

# Whole forests, grown twenty times, of all rows: errors and importances with their deviations.
forests <- NULL
for (table in names(cases)) {
  data <- read(table, seq_len(400))
  regression <- is.numeric(data[[1]])
  for (seed in 1:20) {
    set.seed(seed)
    one <- randomForest(
      cases[[table]], data, ntree = 500, mtry = 3, nodesize = 1, importance = TRUE
    )
    other <- ranger(
      cases[[table]], data, num.trees = 500, mtry = 3, min.node.size = 1, importance = "permutation",
      seed = seed, num.threads = 1
    )
    error <- if (regression) one$mse[500] else one$err.rate[500, 1]
    rise <- importance(one, type = 1, scale = FALSE)[, 1]
    line <- function(package, what, value) {
      data.frame(table, seed, package, what, value = exact(value))
    }
    forests <- rbind(
      forests, line("randomForest", "error", error), line("randomForest", names(rise), rise),
      line("ranger", "error", other$prediction.error),
      line("ranger", names(other$variable.importance), other$variable.importance)
    )
  }
}
value <- as.numeric(forests$value)
by <- forests[c("table", "package", "what")]
summarised <- aggregate(value, by, mean)
summarised$deviation <- exact(aggregate(value, by, sd)$x)
summarised$x <- exact(summarised$x)
names(summarised)[4] <- "mean"
save(summarised, "forests.csv")
