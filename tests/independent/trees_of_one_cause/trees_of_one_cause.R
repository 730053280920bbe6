# Trees of one of two causes, its events recoded, by rpart; and exposures to its subdistribution:
# from the root of the project,
#     Rscript tests/independent/trees_of_one_cause/trees_of_one_cause.R
library(rpart)
library(survival)

folder <- "tests/independent/trees_of_one_cause"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  numbers <- sapply(table, is.double)
  table[numbers] <- lapply(table[numbers], exact)
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

# Predictors are in [0, 1], of few enough digits for single precision; some rows share a time.
set.seed(11)
n <- 260
x <- as.data.frame(matrix(sample(0:4095, 3 * n, replace = TRUE) / 4096, n))
first <- rexp(n, exp(2 * x$V1 - 1.5 * (x$V2 > 0.6)))
second <- rexp(n, exp(2 * x$V3 - 1))
censoring <- rexp(n, 0.7)
time <- ceiling(200 * pmin(first, second, censoring)) / 200
cause <- ifelse(censoring < pmin(first, second), "none", ifelse(first < second, "one", "two"))
rows <- data.frame(time, cause, x)

tree <- rpart(
  Surv(time, cause == "one") ~ V1 + V2 + V3, rows, method = "exp", minsplit = 16, minbucket = 8,
  cp = 0, maxcompete = 0, maxsurrogate = 0, usesurrogate = 0, xval = 0
)
path <- tree$cptable
save(data.frame(
  nsplit = as.integer(path[, "nsplit"]), cp = path[, "CP"], relative_error = path[, "rel error"]
), "path")

# Rows with an event of the other cause stay, weighted by the survival of censoring.  Events come
# before censoring, so times of censoring are a little later.  The hazard of each piece between
# event times is a coefficient of a Poisson regression on rows that are split at all times.
later <- time + ifelse(cause == "none", 1e-7, 0)
G <- survfit(Surv(later, cause == "none") ~ 1, se.fit = FALSE)
G <- stepfun(G$time, c(1, G$surv))
last <- max(time)
stay <- cause == "two" & time < last
long <- rbind(
  data.frame(id = 1:n, start = 0, stop = time, event = 1L * (cause == "one"), begin = NA),
  data.frame(id = which(stay), start = time[stay], stop = last, event = 0L, begin = time[stay])
)
pieces <- survSplit(
  Surv(start, stop, event) ~ ., long, cut = sort(unique(time)), start = "start", end = "stop"
)
at <- sort(unique(time[cause == "one"]))
at[length(at)] <- last
pieces$piece <- findInterval(pieces$stop, at, left.open = TRUE)
pieces$weight <- ifelse(
  is.na(pieces$begin), 1, G(pieces$start + 1e-6) / G(pieces$begin - 1e-9)
)
rates <- glm(
  event ~ factor(piece) - 1, quasipoisson, pieces, weights = weight, offset = log(stop - start),
  control = list(epsilon = 1e-15, maxit = 100)
)
rows$exposure <- as.vector(tapply(fitted(rates) * pieces$weight, pieces$id, sum))
save(rows, "rows")
