/// Runs `work` on every element, at most `width` at a time.
///
/// It returns or throws only when no call of `work` or `next` is running any more. An error of one call cancels all
/// others, including a slow call of `next`. `next` is called only when a worker is free, so elements do not accumulate
/// in memory.
///
/// - Parameters:
///   - width: At least 1.
///   - next: Returns the next element, or `nil` at the end. Never called concurrently.
/// - Throws: The first error of `next` or `work`, or `CancellationError` when elements may be left.
package func withBoundedWorkers<Element: Sendable>(
    width: Int,
    next: @escaping @Sendable () async throws -> Element?,
    _ work: @escaping @Sendable (Element) async throws -> Void
) async throws {
    precondition(width >= 1, "at least one worker is needed")
    try await withThrowingTaskGroup(of: WorkerEvent<Element>.self) { group in
        var free = width
        var isFetching = false
        var hasMore = true
        while true {
            if hasMore, !isFetching, free > 0 {
                try Task.checkCancellation()
                isFetching = true
                group.addTask { .fetched(try await next()) }
            }
            // `next` and `work` both run as child tasks, so the first error of either ends the wait.
            guard let event = try await group.next() else { return }
            switch event {
            case .fetched(let element?):
                isFetching = false
                free -= 1
                group.addTask {
                    try await work(element)
                    return .finished
                }
            case .fetched(nil):
                isFetching = false
                hasMore = false
            case .finished:
                free += 1
            }
        }
    }
}

private enum WorkerEvent<Element: Sendable>: Sendable {
    case fetched(Element?)
    case finished
}
