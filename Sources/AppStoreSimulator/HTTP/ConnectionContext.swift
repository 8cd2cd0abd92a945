import Hummingbird
import NIOCore

/// Hummingbird's context of a request, with the connection, so that a fault can close it.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Closes the connection at once; what is not sent yet is lost.
    func dropConnection() async {
        // Closing fails when the client has closed the connection already, which has the same effect.
        try? await channel.close(mode: .all).get()
    }
}
