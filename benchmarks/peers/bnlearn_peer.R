# The worker that runs a job with R's bnlearn: Rscript bnlearn_peer.R JOB.json RESULT.json
# What it is told and tells is in `for_r` and `from_r` of runner.py; jsonlite reads and writes it.

suppressPackageStartupMessages({
  library(bnlearn)
  library(jsonlite)
})

SLOW <- 5    # seconds: the constants of calls.py
MOST <- 200

now <- function() as.numeric(proc.time()[["elapsed"]])

clock <- function(expression) {
  # Sys.time is finer than proc.time, whose step is a millisecond.
  started <- Sys.time()
  force(expression)
  as.numeric(difftime(Sys.time(), started, units = "secs"))
}

measure <- function(action, job) {
  first <- clock(answer <- action())
  if (first >= SLOW) return(list(seconds = list(first), answer = answer))
  seconds <- c()
  began <- now()
  while (length(seconds) < job$repeats || (length(seconds) < MOST && now() - began < job$budget)) {
    seconds <- c(seconds, clock(answer <- action()))
  }
  list(seconds = as.list(seconds), answer = answer)
}

as_result <- function(timing, answer, ...) list(seconds = timing$seconds, answer = answer, ...)

variable_names <- function(job) paste0("v", seq_along(job$cardinalities) - 1)

read_frame <- function(job) {
  d <- length(job$cardinalities)
  codes <- readBin(job$codes, what = "integer", n = job$n_rows * d, size = 1, signed = FALSE)
  dim(codes) <- c(job$n_rows, d)
  columns <- lapply(seq_len(d), function(i) {
    factor(codes[, i], levels = 0:(job$cardinalities[[i]] - 1))
  })
  names(columns) <- variable_names(job)
  as.data.frame(columns)
}

graph <- function(job) {
  names <- variable_names(job)
  arcs <- do.call(rbind, lapply(seq_along(names), function(child) {
    parents <- unlist(job$parents[[child]])
    if (length(parents)) cbind(from = names[parents + 1], to = names[child])
  }))
  made <- empty.graph(names)
  if (!is.null(arcs)) arcs(made) <- arcs
  made
}

hill_climb <- function(job) {
  frame <- read_frame(job)
  timing <- measure(function() hc(frame, score = "bic"), job)
  names <- variable_names(job)
  parents <- lapply(names, function(name) {
    as.list(sort(match(bnlearn::parents(timing$answer, name), names) - 1))
  })
  as_result(timing, parents)
}

fitted_net <- function(job, made, frame) bn.fit(made, frame, method = "bayes", iss = job$ess)

# A conditional, flat in the order [parents ascending ..., state]: R keeps its first axis fastest, so the axes are turned
# to state, last parent, ..., first parent and read as they lie.
flat_table <- function(job, net, child) {
  names <- variable_names(job)
  probabilities <- net[[names[child]]]$prob
  parents <- unlist(job$parents[[child]])
  if (!length(parents)) return(as.list(as.vector(probabilities)))
  wanted <- c(names[child], rev(names[parents + 1]))
  as.list(as.vector(aperm(probabilities, match(wanted, names(dimnames(probabilities))))))
}

NO_SMOOTHING <- "no pseudo-count a cell: an equivalent sample size instead, compared with ours at the same"

fit <- function(job) {
  frame <- read_frame(job)
  made <- graph(job)
  timing <- measure(function() fitted_net(job, made, frame), job)
  tables <- lapply(seq_along(job$cardinalities), function(child) flat_table(job, timing$answer, child))
  as_result(timing, tables, note = NO_SMOOTHING)
}

log_prob <- function(job) {
  frame <- read_frame(job)
  net <- fitted_net(job, graph(job), frame)
  timing <- measure(function() logLik(net, frame, by.sample = TRUE), job)
  as_result(timing, as.list(unname(timing$answer)), note = NO_SMOOTHING)
}

network <- function(job) {
  names <- variable_names(job)
  tables <- lapply(seq_along(names), function(child) {
    parents <- unlist(job$parents[[child]])
    axes <- c(child, rev(parents + 1))
    levels <- lapply(axes, function(i) as.character(0:(job$cardinalities[[i]] - 1)))
    array(unlist(job$tables[[child]]), dim = lengths(levels), dimnames = setNames(levels, names[axes]))
  })
  custom.fit(graph(job), dist = setNames(tables, names))
}

sample_rows <- function(job) {
  set.seed(job$seed)
  net <- network(job)
  timing <- measure(function() rbn(net, n = job$n_rows), job)
  codes <- unlist(lapply(timing$answer[variable_names(job)], function(column) as.integer(as.character(column))))
  writeBin(as.raw(codes), job$codes)
  as_result(timing, "codes")
}

read_csv <- function(job) {
  timing <- measure(function() read.csv(job$csv, stringsAsFactors = TRUE, colClasses = "factor"), job)
  as_result(timing, as.list(dim(timing$answer)), note = "read.csv of R itself")
}

TASKS <- list(hill_climb = hill_climb, fit = fit, log_prob = log_prob, sample = sample_rows, read = read_csv)

files <- commandArgs(trailingOnly = TRUE)
job <- fromJSON(files[[1]], simplifyVector = FALSE)
write(toJSON(TASKS[[job$task]](job), auto_unbox = TRUE, digits = NA, null = "null"), files[[2]])
