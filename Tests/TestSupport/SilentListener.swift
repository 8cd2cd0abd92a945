import Glibc

/// A port on loopback that answers nobody and counts who came.
package final class SilentListener: Sendable {
    private let listener: LoopbackListener

    package var port: Int { listener.port }

    package init() throws {
        listener = try LoopbackListener(isBlocking: false)
    }

    /// Connections since the last count; one that was made and closed again is counted too.
    package func visits() -> Int {
        var count = 0
        while case let connection = accept(listener.descriptor, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }
}
