# Exponential survival trees of rpart with cross-validation: from the root of the project,
#     Rscript tests/independent/survival_trees/survival_trees.R
library(rpart)
library(survival)

folder <- "tests/independent/survival_trees"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  numbers <- sapply(table, is.double)
  table[numbers] <- lapply(table[numbers], exact)
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

# A row whose value is halfway between two others goes to the other side than ours, so no value may
# be; and they have few enough digits for single precision.
apart <- function(x) round(x * 2^12) / 2^12
simulated <- function(n) {
  x <- as.data.frame(matrix(sample(0:(2^20 - 1), 4 * n) / 2^20, n))
  names(x) <- paste0("V", 1:4)
  death <- rexp(n, exp(2 * x$V1 - 1.5 * (x$V2 > 0.6) + x$V3 * x$V1))^0.7
  censoring <- rexp(n, 0.7)
  data.frame(time = pmin(death, censoring), event = 1L * (death <= censoring), x)
}

set.seed(11)
lungs <- subset(survival::veteran, select = c(time, status, karno, diagtime, age, prior))
names(lungs) <- c("time", "event", "V1", "V2", "V3", "V4")
for (name in paste0("V", 1:4)) lungs[[name]] <- apart(lungs[[name]] + runif(nrow(lungs), 0, 0.9))
tables <- list(simulated = simulated(300), veteran = lungs)
rows <- nodes <- paths <- NULL
for (table in names(tables)) {
  data <- tables[[table]]
  fold <- sample(rep(1:8, length.out = nrow(data)))
  tree <- rpart(
    Surv(time, event) ~ V1 + V2 + V3 + V4, data, method = "exp", minsplit = 14, minbucket = 7,
    cp = 0, maxcompete = 0, maxsurrogate = 0, usesurrogate = 0, xval = fold, y = TRUE
  )
  path <- tree$cptable
  paths <- rbind(paths, data.frame(
    table, nsplit = as.integer(path[, "nsplit"]), cp = path[, "CP"],
    relative_error = path[, "rel error"], xerror = path[, "xerror"], xstd = path[, "xstd"]
  ))
  nodes <- rbind(nodes, data.frame(
    table, node = as.integer(rownames(tree$frame)), variable = as.character(tree$frame$var),
    rows = tree$frame$n, hazard = tree$frame$yval, events = tree$frame$yval2[, 2],
    deviance = tree$frame$dev
  ))
  rows <- rbind(rows, data.frame(table, data, fold))
}
save(rows, "rows")
save(nodes, "nodes")
save(paths, "paths")
