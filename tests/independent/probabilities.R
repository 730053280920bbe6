# Areas under ROC curves, calibration maps, intervals of shares and adjusted p-values of R: from the
# root of the project,
#     Rscript tests/independent/probabilities.R
library(pROC)

here <- "tests/independent"
exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
save <- function(table, name) {
  write.csv(table, file.path(here, name), row.names = FALSE, quote = FALSE)
}

data <- read.csv("data/breast_cancer.csv")
event <- as.numeric(data$diagnosis == "malignant")
model <- glm(event ~ mean_texture + mean_smoothness + mean_symmetry, binomial, data)
p <- round(fitted(model), 2)
area <- roc(event, p, direction = "<", levels = c(0, 1), quiet = TRUE)

# Platt's targets, a little inside 0 and 1
yes <- sum(event)
no <- sum(1 - event)
target <- ifelse(event == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
inside <- pmin(pmax(p, 1e-9), 1 - 1e-9)
platt <- fitted(glm(target ~ qlogis(inside), quasibinomial, control = list(epsilon = 1e-14)))
beta <- fitted(glm(target ~ log(inside) + log1p(-inside), quasibinomial, control = list(epsilon = 1e-14)))
# rows of one p have one mean: isoreg() takes them in the order in which they come
mean_of_p <- ave(event, p)
order_of_p <- order(p)
isotonic <- numeric(length(p))
isotonic[order_of_p] <- isoreg(p[order_of_p], mean_of_p[order_of_p])$yf

save(data.frame(p, event, isotonic = exact(isotonic), platt = exact(platt), beta = exact(beta)), "probabilities.csv")
save(data.frame(
  area = exact(auc(area)), variance = exact(var(area, method = "delong"))
), "areas.csv")

shares <- expand.grid(n = c(1, 7, 40), events = c(0, 1, 5, 40))
shares <- shares[shares$events <= shares$n, ]
ends <- mapply(function(k, n) binom.test(k, n, conf.level = 0.9)$conf.int, shares$events, shares$n)
save(cbind(shares, conf_low = exact(ends[1, ]), conf_high = exact(ends[2, ])), "shares.csv")

p_value <- c(0.001, 0.04, 0.03, 0.03, 0.2, 0.9, 0.008)
save(data.frame(
  p_value, holm = exact(p.adjust(p_value, "holm")), bh = exact(p.adjust(p_value, "BH"))
), "adjusted.csv")
