# Survival models of R, fitted on request; started by survival_workers.py.
#
# A line of the standard input names a system, a folder and a seed, with tabs between them.  The
# folder has train.csv and test.csv (time, event, x1 ..., f1 ...) and times.csv.  Written there are
# risk.csv, one number a test row, and curves.csv, a row of survival probabilities a test row.  The
# answer is a line: "ok", seconds of the processor for training and for prediction, version; or
# "failed", message.  Nothing else may be printed.

suppressMessages(library(survival))

# Values at `times` of step functions in the rows of `curves`, which jump at `jumps`; 1 before.
stepped <- function(curves, jumps, times) {
  cbind(1, curves)[, findInterval(times, jumps) + 1, drop = FALSE]
}

# Survival curves of a proportional hazards model: Breslow's estimate of the baseline.
breslow <- function(train, risk, new_risk, times) {
  shift <- max(risk)
  jumps <- sort(unique(train$time[train$event == 1]))
  order <- order(train$time)
  at_risk <- rev(cumsum(rev(exp(risk - shift)[order])))
  first <- findInterval(jumps, train$time[order], left.open = TRUE) + 1
  events <- tabulate(match(train$time[train$event == 1], jumps), length(jumps))
  hazard <- c(0, cumsum(events / at_risk[first]))[findInterval(times, jumps) + 1]
  exp(-outer(exp(new_risk - shift), hazard))
}

predictors <- function(data) data[setdiff(names(data), c("time", "event"))]
matrix_of <- function(data) model.matrix(~ ., predictors(data))[, -1, drop = FALSE]

# Each returns a function of new rows and times that gives list(risk, curves).
systems <- list(
  cox = function(train, seed) {
    fit <- coxph(Surv(time, event) ~ ., train)
    function(new, times) {
      risk <- predict(fit, new, type = "lp", reference = "sample")
      own <- predict(fit, train, type = "lp", reference = "sample")
      list(risk, breslow(train, own, risk, times))
    }
  },
  cox_ridge = function(train, seed) {
    set.seed(seed)
    fit <- glmnet::cv.glmnet(
      matrix_of(train), Surv(train$time, train$event), family = "cox", alpha = 0)
    function(new, times) {
      risk <- drop(predict(fit, matrix_of(new), s = "lambda.min"))
      own <- drop(predict(fit, matrix_of(train), s = "lambda.min"))
      list(risk, breslow(train, own, risk, times))
    }
  },
  rpart = function(train, seed) {
    set.seed(seed)
    fit <- rpart::rpart(Surv(time, event) ~ ., train)
    function(new, times) {
      risk <- predict(fit, new)
      own <- predict(fit, train)
      leaves <- unique(own)
      curves <- t(sapply(leaves, function(leaf) {
        km <- survfit(Surv(time, event) ~ 1, train[own == leaf, ])
        c(1, km$surv)[findInterval(times, km$time) + 1]
      }))
      list(risk, curves[match(risk, leaves), , drop = FALSE])
    }
  },
  ranger = function(train, seed) {
    # 0 would be no seed
    fit <- ranger::ranger(
      Surv(time, event) ~ ., train, num.threads = 1, seed = seed + 1, verbose = FALSE)
    function(new, times) {
      found <- predict(fit, new, num.threads = 1, verbose = FALSE)
      list(rowSums(found$chf), stepped(found$survival, found$unique.death.times, times))
    }
  },
  cforest = function(train, seed) {
    set.seed(seed)
    controls <- party::cforest_unbiased(mtry = min(5, ncol(train) - 2))
    fit <- party::cforest(Surv(time, event) ~ ., train, controls = controls)
    function(new, times) {
      found <- party::treeresponse(fit, newdata = new)
      jumps <- sort(unique(train$time[train$event == 1]))
      # mortality: the estimated cumulative hazard, added up over the times of events
      risk <- sapply(found, function(km) {
        sum(c(0, cumsum(km$n.event / km$n.risk))[findInterval(jumps, km$time) + 1])
      })
      curves <- t(sapply(found, function(km) c(1, km$surv)[findInterval(times, km$time) + 1]))
      list(risk, curves)
    }
  }
)
package_of <- c(
  cox = "survival", cox_ridge = "glmnet", rpart = "rpart", ranger = "ranger", cforest = "party")

read_rows <- function(folder, name) {
  path <- file.path(folder, name)
  columns <- names(read.csv(path, nrows = 1))
  read.csv(path, colClasses = ifelse(substr(columns, 1, 1) == "f", "character", "numeric"))
}

# Training and test rows, whose factors have the levels of both.
both <- function(folder) {
  train <- read_rows(folder, "train.csv")
  test <- read_rows(folder, "test.csv")
  for (name in names(train)[substr(names(train), 1, 1) == "f"]) {
    levels <- sort(unique(c(train[[name]], test[[name]])))
    train[[name]] <- factor(train[[name]], levels)
    test[[name]] <- factor(test[[name]], levels)
  }
  list(train = train, test = test)
}

processor_seconds <- function() sum(proc.time()[c("user.self", "sys.self")])

answer <- function(system, folder, seed) {
  rows <- both(folder)
  times <- scan(file.path(folder, "times.csv"), quiet = TRUE)
  requireNamespace(package_of[[system]], quietly = TRUE)
  start <- processor_seconds()
  predicting <- systems[[system]](rows$train, as.integer(seed))
  fitted <- processor_seconds()
  found <- predicting(predictors(rows$test), times)
  done <- processor_seconds()
  write.table(found[[1]], file.path(folder, "risk.csv"), row.names = FALSE, col.names = FALSE)
  write.table(
    found[[2]], file.path(folder, "curves.csv"), sep = ",", row.names = FALSE, col.names = FALSE)
  version <- as.character(packageVersion(package_of[[system]]))
  paste("ok", fitted - start, done - fitted, version, sep = "\t")
}

input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  asked <- strsplit(line, "\t")[[1]]
  said <- tryCatch(
    suppressWarnings(answer(asked[1], asked[2], asked[3])),
    error = function(problem) {
      paste("failed", gsub("\\s+", " ", conditionMessage(problem)), sep = "\t")
    })
  cat(said, "\n", sep = "")
  flush(stdout())
}
