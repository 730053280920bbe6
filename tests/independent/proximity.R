# Outlier scores and scaled rows of randomForest, from the leaves of its trees: from the root of the
# project,
#     Rscript tests/independent/proximity.R
library(randomForest)

exact <- function(x) formatC(x, digits = 17, format = "g", width = 1)
set.seed(1)
data <- na.omit(read.csv("data/penguins.csv", stringsAsFactors = TRUE, na.strings = ""))
data <- data[seq(1, nrow(data), by = 7), ]
forest <- randomForest(species ~ ., data, ntree = 25, proximity = TRUE, oob.prox = FALSE)
leaves <- attr(predict(forest, data, nodes = TRUE), "nodes")
colnames(leaves) <- paste0("tree", 1:25)
scaled <- cmdscale(sqrt(1 - forest$proximity), k = 2, eig = TRUE)
write.csv(data.frame(
  species = data$species, outlier = exact(outlier(forest)), first = exact(scaled$points[, 1]),
  second = exact(scaled$points[, 2]), near_row_1 = exact(forest$proximity[, 1]), leaves
), "tests/independent/proximity.csv", row.names = FALSE, quote = FALSE)
