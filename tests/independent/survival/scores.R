# What the package survival says of given scores: Cox's partial likelihood, martingale residuals and
# Breslow's baseline hazard; the likelihood of accelerated failure times.  From the root of the project,
#     Rscript tests/independent/survival/scores.R
library(survival)

here <- "tests/independent/survival"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  write.csv(table, file.path(here, name), row.names = FALSE, quote = FALSE)
}

lung <- na.omit(lung[c("time", "status", "age", "sex", "ph.ecog")])
rows_of_lung <- data.frame(
  table = "lung", start = 0, time = lung$time, event = as.numeric(lung$status == 2),
  weight = 1 + (seq_len(nrow(lung)) %% 3) / 2,
  score = round(0.02 * lung$age - 0.5 * lung$sex + 0.6 * lung$ph.ecog, 3)
)
# many ties: months instead of days
rows_of_months <- transform(rows_of_lung, table = "months", time = ceiling(time / 30))
# covariates that change with time; rows are observed from start to stop
rows_of_heart <- with(heart, data.frame(
  table = "heart", start, time = stop, event, weight = 1 + (seq_along(stop) %% 2),
  score = round(0.03 * age + 0.8 * surgery - 0.1 * (transplant == "1"), 3)
))

cox <- function(rows, ties) {
  coxph(Surv(start, time, event) ~ score, rows, weights = weight, ties = ties, init = 1,
        control = coxph.control(iter.max = 0, timefix = FALSE))
}
likelihoods <- NULL
baselines <- NULL
all_rows <- NULL
for (rows in list(rows_of_lung, rows_of_months, rows_of_heart)) {
  fit <- cox(rows, "efron")
  likelihoods <- rbind(likelihoods, data.frame(table = rows$table[1], loglik = exact(fit$loglik[2])))
  all_rows <- rbind(all_rows, cbind(rows, residual = exact(residuals(fit, "martingale"))))
  hazard <- basehaz(cox(rows, "breslow"), centered = FALSE)
  baselines <- rbind(baselines, data.frame(
    table = rows$table[1], time = hazard$time, hazard = exact(hazard$hazard)
  ))
}
save(all_rows, "scores.csv")
save(likelihoods, "partial_likelihoods.csv")
save(baselines, "baselines.csv")

# accelerated failure times: the scores are an offset
times <- NULL
for (law in c("lognormal", "loglogistic", "weibull")) {
  fit <- survreg(Surv(time, event) ~ offset(-score), rows_of_lung, weight, dist = law,
                 control = survreg.control(rel.tolerance = 1e-14, maxiter = 200))
  times <- rbind(times, data.frame(
    law, start = exact(coef(fit)), scale = exact(fit$scale), loglik = exact(fit$loglik[2])
  ))
}
save(times, "failure_times.csv")
