/// Runs `work` on every element, at most `width` at a time.
///
/// Structured: returning means all finished; throwing means the rest were cancelled and waited for.
/// `next` is asked for an element only when a slot is free, so nothing queues up in memory. While it is being asked,
/// an error of `work` waits for its answer; and once the task is cancelled it is asked no more.
///
/// - Parameters:
///   - width: At least 1.
///   - next: The next element, or `nil` when there are no more. Never called twice at once.
///   - work: What to do with one element.
/// - Throws: The first error of `next` or `work`, or `CancellationError` if elements may be left.
package func withBoundedWorkers<Element: Sendable>(
    width: Int,
    next: () async throws -> Element?,
    _ work: @escaping @Sendable (Element) async throws -> Void
) async throws {
    precondition(width >= 1, "a group without workers never ends")
    try await withThrowingTaskGroup(of: Void.self) { group in
        var free = width
        while true {
            if free == 0 {
                try await group.next()
                free += 1
            }
            try Task.checkCancellation()
            guard let element = try await next() else { break }
            group.addTask { try await work(element) }
            free -= 1
        }
        // Not `waitForAll`: it lets the others finish before it throws, and nobody cancels them.
        while try await group.next() != nil {}
    }
}
