import Hummingbird
import NIOCore

/// A request's context that keeps hold of the connection, so that a fault can cut it.
struct StoreContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Closes the connection at once; what is not sent yet is lost.
    func dropConnection() async {
        // A connection the client has closed already is as closed as one we close.
        try? await channel.close(mode: .all).get()
    }
}
