/// Runs `work` on every element, at most `width` at a time.
///
/// Structured: returning means all finished; throwing means the rest were cancelled and waited for.
/// `next` is asked for an element only when a slot is free, so nothing queues up in memory.
///
/// - Parameters:
///   - width: At least 1.
///   - next: The next element, or `nil` when there are no more. Never called twice at once.
///   - work: What to do with one element.
/// - Throws: The first error of `next` or `work`.
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
            guard let element = try await next() else { break }
            group.addTask { try await work(element) }
            free -= 1
        }
        try await group.waitForAll()
    }
}
