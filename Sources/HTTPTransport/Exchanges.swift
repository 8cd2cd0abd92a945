import Basics

/// The running exchanges, and idle handles for the next ones.
///
/// Used only on the transport's thread.
struct Exchanges {
    private struct Exchange {
        let ticket: UInt64
        let easy: CurlEasy
        let waiter: CurlLoop.Waiter
    }

    /// Enough for the usual number of workers; further handles are created and freed.
    private static let idleLimit = 64

    private let multi: CurlMulti
    private let settings: CurlSettings
    private var running: [CurlEasy.ID: Exchange] = [:]
    private var idle: [CurlEasy] = []

    init(multi: CurlMulti, settings: CurlSettings) {
        self.multi = multi
        self.settings = settings
    }

    mutating func start(
        _ ticket: UInt64,
        _ request: HTTPRequest,
        _ waiter: @escaping CurlLoop.Waiter
    ) {
        do {
            let easy = try idle.popLast() ?? CurlEasy()
            try easy.prepare(request, settings)
            try multi.add(easy)
            crashPoint(.requestHandedOver)
            running[easy.id] = Exchange(ticket: ticket, easy: easy, waiter: waiter)
        } catch {
            waiter(.failure(error))
        }
    }

    /// Ends a running exchange; does nothing when it has finished.
    mutating func cancel(_ ticket: UInt64) {
        guard let id = running.first(where: { $0.value.ticket == ticket })?.key else { return }
        end(id) { _ in .failure(CancellationError()) }
    }

    /// Lets libcurl make progress without waiting, and delivers finished exchanges.
    ///
    /// - Returns: `false` when libcurl itself failed and cannot continue.
    mutating func advance() -> Bool {
        guard multi.perform() else { return false }
        if !running.isEmpty { crashPoint(.requestUnderWay) }
        while let (id, code) = multi.nextFinished() {
            crashPoint(.responseComplete)
            end(id) { easy in easy.result(of: code).mapError { $0 as any Error } }
        }
        return true
    }

    mutating func endAll() {
        for id in running.keys { end(id) { _ in .failure(TransportFault.shutDown) } }
        idle = []
    }

    private mutating func end(
        _ id: CurlEasy.ID,
        _ result: (CurlEasy) -> Result<HTTPResponse, any Error>
    ) {
        guard let exchange = running.removeValue(forKey: id) else { return }
        let outcome = result(exchange.easy)
        multi.remove(exchange.easy)
        exchange.easy.forget()
        if idle.count < Self.idleLimit { idle.append(exchange.easy) }
        exchange.waiter(outcome)
    }
}
