# Tables of times to events of R packages, each as a csv: time, event (0 or 1), predictors.
#     Rscript survival_tables.R FOLDER
# A factor is a column of text.  What needs a package that is not installed is left out.

folder <- commandArgs(trailingOnly = TRUE)[1]
suppressMessages(library(survival))

of <- function(package, name) {
  if (!requireNamespace(package, quietly = TRUE)) stop("no package ", package)
  if (package == "survival") return(get(name, "package:survival"))
  place <- new.env()
  data(list = name, package = package, envir = place)
  get(name, envir = place)
}

# The columns `left_out` are neither predictors nor the response; numbers in `factors` are codes.
prepared <- function(data, time, event, left_out = character(), factors = character()) {
  data <- as.data.frame(data)
  predictors <- data[setdiff(names(data), left_out)]
  for (name in factors) {
    codes <- predictors[[name]]
    predictors[[name]] <- ifelse(is.na(codes), NA, paste0("l", codes))
  }
  for (name in names(predictors)) {
    if (is.logical(predictors[[name]])) predictors[[name]] <- as.integer(predictors[[name]])
    if (is.factor(predictors[[name]])) predictors[[name]] <- as.character(predictors[[name]])
  }
  data.frame(time = time, event = as.integer(event), predictors)
}

tables <- list(
  aids2 = function() with(d <- of("MASS", "Aids2"), prepared(
    d, death - diag, status == "D", c("diag", "death", "status"))),
  colon = function() with(d <- subset(of("survival", "colon"), etype == 2), prepared(
    d, time, status, c("id", "study", "time", "status", "etype", "node4"),
    c("differ", "extent"))),
  cost = function() with(d <- of("pec", "cost"), prepared(d, time, status, c("time", "status"))),
  flchain = function() with(d <- of("survival", "flchain"), prepared(
    d, futime, death, c("futime", "death", "chapter"))),
  gbsg2 = function() with(d <- of("TH.data", "GBSG2"), prepared(
    d, time, cens, c("time", "cens"))),
  kidtran = function() with(d <- of("KMsurv", "kidtran"), prepared(
    d, time, delta, c("obs", "time", "delta"))),
  lung = function() with(d <- of("survival", "lung"), prepared(
    d, time, status == 2, c("inst", "time", "status"))),
  melanoma = function() with(d <- of("riskRegression", "Melanoma"), prepared(
    d, time, status == 1, c("time", "status", "event", "logthick"))),
  mgus2 = function() with(d <- of("survival", "mgus2"), prepared(
    d, futime, death, c("id", "ptime", "pstat", "futime", "death"))),
  nwtco = function() with(d <- of("survival", "nwtco"), prepared(
    d, edrel, rel, c("seqno", "edrel", "rel", "in.subcohort"),
    c("instit", "histol", "stage", "study"))),
  pbc = function() with(d <- subset(of("survival", "pbc"), !is.na(trt)), prepared(
    d, time, status == 2, c("id", "time", "status"), c("edema", "stage"))),
  rotterdam = function() with(d <- of("survival", "rotterdam"), prepared(
    d, dtime, death, c("pid", "year", "rtime", "recur", "dtime", "death"))),
  std = function() with(d <- of("KMsurv", "std"), prepared(
    d, time, rinfct, c("obs", "time", "rinfct"), "iinfct")),
  trace = function() with(d <- of("timereg", "TRACE"), prepared(
    d, time, status != 0, c("id", "time", "status"))),
  veteran = function() with(d <- of("survival", "veteran"), prepared(
    d, time, status, c("time", "status"))),
  wpbc = function() with(d <- of("TH.data", "wpbc"), prepared(
    d, time, status == "R", c("time", "status")))
)

for (name in names(tables)) {
  made <- tryCatch(tables[[name]](), error = function(problem) {
    message(name, " left out: ", conditionMessage(problem))
  })
  if (!is.null(made)) {
    write.csv(made, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
  }
}
