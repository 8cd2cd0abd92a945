import Basics

/// Cancels `body` once `limit` has passed since `began`, on the monotonic clock.
///
/// - Throws: ``DeadlineReached`` after the limit; the errors of `body`.
func withDeadline<Result: Sendable>(
    _ limit: Duration?,
    since began: Duration,
    time: Timekeeper,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await time.sleep(max(.zero, limit - (time.monotonic() - began)))
            throw DeadlineReached(limit: limit)
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}

/// `--max-duration` has passed with work left.
struct DeadlineReached: ExplainedError {
    let limit: Duration

    var status: ExitStatus { .workLeft }

    var sentence: String { "stopped after \(limit.inWords) with work left; storeledger run JOB continues" }
}
