# Scores and tests of rows that enter late, from R's package survival: weights are jumps of survfit, those
# of finegray for each group, and ranks of concordance.  From the root of the project,
#     Rscript tests/independent/survival/late.R
library(survival)

here <- "tests/independent"
rows <- read.csv(file.path(here, "survival_rows.csv"))
rows$happened <- rows$event > 0
rows$early <- floor(10 * rows$start) / 10
rows$id <- seq_len(nrow(rows))
rows$distinct <- rows$time + 1e-4 * rows$id
found <- list()
save <- function(what, at, value) {
  found[[length(found) + 1]] <<- data.frame(
    what, at, value = formatC(as.numeric(value), digits = 17, format = "g", width = 1)
  )
}

curve <- survfit(Surv(early, distinct, happened) ~ 1, rows)
before <- stepfun(curve$time, c(1, curve$surv), right = TRUE)
at_risk <- function(t) sum(rows$early < t & t <= rows$distinct)
# what an event stands for
rows$jump <- ifelse(rows$happened, before(rows$distinct) / sapply(rows$distinct, at_risk), 0)

# pairs at each event, compared by concordance() as Cox's score residuals are: rank is their difference
# divided by the number at risk
ranks <- concordance(Surv(early, distinct, happened) ~ score, rows, reverse = TRUE, ranks = TRUE)$ranks
size <- sapply(ranks$time, at_risk)
weight <- (before(ranks$time) / size)^2
for (t in c(0.55, 1.05, 2.05)) {
  used <- ranks$time <= t
  compared <- sum((weight * (size - 1))[used])
  save("concordance", t, (1 + sum((weight * ranks$rank * size)[used]) / compared) / 2)
}

for (m in 0:3) {
  t <- c(0.55, 1.05, 1.55, 2.05)[m + 1]
  risk <- rows[[paste0("risk", m)]]
  past <- rows$happened & rows$distinct <= t
  later <- rows$early <= t & rows$distinct > t
  weight <- ifelse(past, rows$jump, ifelse(later, before(t + 1e-9) / sum(later), 0))
  save("weights", t, sum(weight))
  save("brier", t, sum(weight * (risk - past)^2))
  higher <- outer(risk[past], risk[later], ">") + outer(risk[past], risk[later], "==") / 2
  pairs <- outer(weight[past], weight[later])
  save("area", t, sum(higher * pairs) / sum(pairs))
}

# Gray's score: events of cause 1 minus those expected by the weighted risk sets of Fine and Gray, which
# are those of finegray at the events of the group itself (it keeps no others)
rows$state <- factor(rows$event, 0:2)
groups <- sort(unique(rows$group))
times <- sort(rows$distinct[rows$event == 1])
sets <- sapply(groups, function(g) {
  own <- rows[rows$group == g, ]
  curve <- survfit(Surv(early, distinct, state) ~ 1, own, id = id)
  states <- summary(curve, times - 1e-6, extend = TRUE)$pstate
  present <- sapply(times, function(t) sum(own$early < t & t <= own$distinct))
  expanded <- finegray(Surv(early, distinct, state) ~ group, own, etype = "1", id = id)
  size <- present * (1 - states[, 2]) / states[, 1]
  for (t in own$distinct[own$event == 1]) {
    weighted <- sum(expanded$fgwt[expanded$fgstart < t & t <= expanded$fgstop])
    stopifnot(abs(weighted - size[times == t]) < 1e-8)
  }
  size
})
happened <- sapply(groups, function(g) times %in% rows$distinct[rows$group == g & rows$event == 1])
save("gray score", groups, colSums(happened - sets / rowSums(sets)))

write.csv(do.call(rbind, found), file.path(here, "survival", "late.csv"), row.names = FALSE, quote = FALSE)
