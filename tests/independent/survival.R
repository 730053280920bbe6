# Survival by R's packages survival, cmprsk, riskRegression and pec, for the rows that
# survival_anchors.py drew: from the root of the project,
#     Rscript tests/independent/survival.R
library(survival)
library(cmprsk)
suppressMessages(library(riskRegression))
suppressMessages(library(pec))

here <- "tests/independent"
rows <- read.csv(file.path(here, "survival_rows.csv"))
rows$happened <- rows$event > 0
# entry at times of events, too
rows$early <- floor(10 * rows$start) / 10
rows$state <- factor(rows$event, 0:2)
rows$id <- seq_len(nrow(rows))
found <- list()
save <- function(what, at, value) {
  found[[length(found) + 1]] <<- data.frame(
    what, at, value = formatC(as.numeric(value), digits = 17, format = "g", width = 1)
  )
}

# curves at the distinct times of events
times <- sort(unique(rows$time[rows$happened]))
curve <- function(name, formula, weights, robust = FALSE) {
  rows$used <- weights
  fit <- survfit(formula, rows, weights = used, conf.type = "log-log", robust = robust, id = id)
  s <- summary(fit, times)
  save(paste("survival", name), times, s$surv)
  save(paste("error", name), times, s$std.err)
  save(paste("low", name), times, s$lower)
  save(paste("high", name), times, s$upper)
  save(paste("at risk", name), times, s$n.risk)
  save(paste("hazard", name), times, s$cumhaz)
}
one <- rep(1, nrow(rows))
curve("plain", Surv(time, happened) ~ 1, one)
curve("weighted", Surv(time, happened) ~ 1, rows$copies)
curve("late", Surv(early, time, happened) ~ 1, rows$copies)
curve("robust", Surv(time, happened) ~ 1, rows$weights, TRUE)
curve("robust late", Surv(early, time, happened) ~ 1, rows$weights, TRUE)

for (t in c(0.55, 1.05, 2.05)) {
  fit <- survfit(Surv(time, happened) ~ 1, rows)
  table <- summary(fit, rmean = t)$table
  save("restricted mean", t, table["rmean"])
}
fit <- survfit(Surv(time, happened) ~ 1, rows)
save("infinitesimal pseudo", 1.05, pseudo(fit, times = 1.05))
save("infinitesimal pseudo mean", 1.05, pseudo(fit, times = 1.05, type = "rmst"))
save("median", NA, quantile(survfit(Surv(time, happened) ~ 1, rows), 0.5)$quantile)

pairs <- function(name, formula, weights) {
  rows$used <- weights
  fit <- concordance(formula, rows, weights = used, reverse = TRUE)
  save(paste("concordance", name), NA, fit$concordance)
  save(paste("variance of concordance", name), NA, fit$var)
}
pairs("plain", Surv(time, happened) ~ score, one)
pairs("weighted", Surv(time, happened) ~ score, rows$weights)
pairs("late", Surv(early, time, happened) ~ score, rows$weights)
for (t in c(0.55, 1.05, 2.05)) {
  fit <- concordance(Surv(time, happened) ~ score, rows, reverse = TRUE, timewt = "n/G2", ymax = t)
  save("concordance by censoring", t, fit$concordance)
}

# tests of groups; with entry the score test of Cox's regression, the same if there are no ties
save("log-rank", NA, survdiff(Surv(time, happened) ~ group, rows)$chisq)
save("log-rank in strata", NA, survdiff(Surv(time, happened) ~ group + strata(stratum), rows)$chisq)
rows$distinct <- rows$time + 1e-4 * rows$id
late <- coxph(Surv(early, distinct, happened) ~ factor(group) + strata(stratum), rows)
save("log-rank late in strata", NA, late$score)

# competing causes
states <- function(name, response, weights) {
  rows$used <- weights
  fit <- survfit(response, rows, weights = used, id = id)
  s <- summary(fit, times)
  for (cause in 1:2) {
    save(paste("incidence of", cause, name), times, s$pstate[, cause + 1])
    save(paste("robust error of", cause, name), times, s$std.err[, cause + 1])
  }
}
states("plain", Surv(time, state) ~ 1, one)
states("weighted", Surv(time, state) ~ 1, rows$weights)
states("late", Surv(early, time, state) ~ 1, rows$weights)
incidence <- cuminc(rows$time, rows$event)
at <- timepoints(incidence, times)
for (cause in 1:2) {
  save(paste("cmprsk incidence of", cause), times, at$est[cause, ])
}
gray <- function(name, ...) {
  tests <- cuminc(rows$time, rows$event, rows$group, ...)$Tests
  for (cause in 1:2) save(paste("gray", name, "of", cause), NA, tests[cause, "stat"])
}
gray("plain")
gray("in strata", strata = rows$stratum)

# measures of predictions
at <- c(0.55, 1.05, 1.55, 2.05)
risk <- as.matrix(rows[paste0("risk", 0:3)])
score <- function(name, formula, ...) {
  found <- Score(
    list(ours = risk), formula = formula, data = rows, times = at, cens.model = "km",
    metrics = c("auc", "brier"), contrasts = FALSE, null.model = FALSE, ...
  )
  save(paste("riskRegression area", name), at, found$AUC$score$AUC)
  save(paste("error of riskRegression area", name), at, found$AUC$score$se)
  save(paste("riskRegression brier", name), at, found$Brier$score$Brier)
  save(paste("error of riskRegression brier", name), at, found$Brier$score$se)
}
score("of all", Surv(distinct, happened) ~ 1)
score("of 1", Hist(distinct, event) ~ 1, cause = 1)
share <- cindex(
  list(ours = matrix(rows$score, nrow(rows), length(at))), Hist(distinct, event) ~ 1, rows,
  eval.times = at, cause = 1, cens.model = "marginal", verbose = FALSE
)
save("pec concordance", at, share$AppCindex$ours)

write.csv(do.call(rbind, found), file.path(here, "survival_r.csv"), row.names = FALSE, quote = FALSE)
