/// Runs `work` on several elements at the same time, and passes the results to `take` in the order of the elements.
///
/// It returns or throws only when no call of `work` is running any more. `next` and `take` are never called
/// concurrently. At most `2 * width` elements and results are in memory.
///
/// - Parameters:
///   - width: At least 1.
///   - next: Returns the next element, or `nil` at the end.
/// - Throws: The first error of `next`, `work` or `take`, or `CancellationError` when elements may be left.
package func withOrderedWorkers<Element: Sendable, Value: Sendable>(
    width: Int,
    next: () async throws -> Element?,
    work: @escaping @Sendable (Element) async throws -> Value,
    take: (Value) async throws -> Void
) async throws {
    precondition(width >= 1, "at least one worker is needed")
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        var begun = 0
        var taken = 0
        var hasMore = true
        var finished: [Int: Value] = [:]
        while true {
            while hasMore, begun - taken < 2 * width {
                try Task.checkCancellation()
                guard let element = try await next() else {
                    hasMore = false
                    break
                }
                let number = begun
                begun += 1
                group.addTask { (number, try await work(element)) }
            }
            guard let (number, value) = try await group.next() else { return }
            finished[number] = value
            while let value = finished.removeValue(forKey: taken) {
                try await take(value)
                taken += 1
            }
        }
    }
}
