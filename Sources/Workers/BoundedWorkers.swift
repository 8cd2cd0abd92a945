/// Runs `work` on every element, at most `width` at a time.
///
/// Structured: returning means all finished; throwing means the rest were cancelled and waited for.
/// `next` is asked for an element only when a slot is free, so nothing queues up in memory. It may take its time:
/// an error of `work` ends the wait.
///
/// - Parameters:
///   - width: At least 1.
///   - next: The next element, or `nil` when there are no more. Never called twice at once.
///   - work: What to do with one element.
/// - Throws: The first error of `next` or `work`, or `CancellationError` if elements may be left.
package func withBoundedWorkers<Element: Sendable>(
    width: Int,
    next: @escaping @Sendable () async throws -> Element?,
    _ work: @escaping @Sendable (Element) async throws -> Void
) async throws {
    precondition(width >= 1, "a group without workers never ends")
    try await withThrowingTaskGroup(of: WorkerEvent<Element>.self) { group in
        var free = width
        var isAsking = false
        var hasMore = true
        while true {
            if hasMore, !isAsking, free > 0 {
                try Task.checkCancellation()
                isAsking = true
                group.addTask { .answer(try await next()) }
            }
            // Asking and working are both children, so whichever fails is heard of at once.
            guard let event = try await group.next() else { return }
            switch event {
            case .answer(let element?):
                isAsking = false
                free -= 1
                group.addTask {
                    try await work(element)
                    return .finished
                }
            case .answer(nil):
                isAsking = false
                hasMore = false
            case .finished:
                free += 1
            }
        }
    }
}

private enum WorkerEvent<Element: Sendable>: Sendable {
    case answer(Element?)
    case finished
}
