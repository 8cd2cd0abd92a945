import Glibc

/// A port on loopback that never answers and counts its connections.
package final class SilentListener: Sendable {
    private let listener: LoopbackListener

    package var port: Int { listener.port }

    package init() throws {
        listener = try LoopbackListener(isBlocking: false)
    }

    /// The number of connections since the last call, including closed ones.
    package func connectionsSinceLastCall() -> Int {
        var count = 0
        while case let connection = accept(listener.descriptor, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }
}
