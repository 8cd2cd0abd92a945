/// Waits until a condition holds.
///
/// The condition is asked every 10 milliseconds: without a pause, each question takes a core from what the test waits for.
package func poll(until holds: () async throws -> Bool) async throws {
    while try await !holds() { try await Task.sleep(for: .milliseconds(10)) }
}
