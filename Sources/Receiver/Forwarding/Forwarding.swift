import AppStoreModel
import Basics
import HTTPTransport
import Inbox
import JobFiles
import Ledger
import Postgres

/// The forwarders of all apps of a receiver.
///
/// Everything that is left to do is in the ledger, so a forwarder keeps only the notifications in flight in memory. It has separate
/// sessions and one transport, and never waits for the inbox or makes it wait.
struct Forwarding: Sendable {
    /// The sessions of each of a ledger's two pools.
    ///
    /// Claims and outcomes have separate pools: a claim waits while an erasure runs, and outcomes must not.
    private static let sessions = 1
    private static let connectPatience = Duration.seconds(1)

    private struct Work: Sendable {
        let labels: String
        let forwarder: Forwarder
        let wakes: AsyncStream<Void>
        let wake: AsyncStream<Void>.Continuation
    }

    private let apps: [ReceivedApp]
    private let queues: [String: ForwardQueue]
    private let poster: ForwardPoster?
    private let work: [Work]
    private let report: @Sendable (ReceiverEvent) -> Void

    /// - Throws: ``HTTPTransport/TransportFault`` if libcurl cannot work.
    init(
        _ apps: [ReceivedApp],
        metrics: ReceiverMetrics,
        time: Timekeeper,
        report: @escaping @Sendable (ReceiverEvent) -> Void
    ) throws(TransportFault) {
        self.apps = apps
        self.report = report
        let queues = Self.queues(of: apps)
        self.queues = queues
        let urls = apps.flatMap(\.destinations).map(\.url)
        guard !urls.isEmpty else {
            (poster, work) = (nil, [])
            return
        }
        let paces = Dictionary(grouping: apps.flatMap(\.destinations), by: \.name).mapValues {
            Forwarder.SharedPace(apps: $0.count)
        }
        let poster = try ForwardPoster(
            for: urls,
            connections: paces.values.reduce(0) { $0 + $1.places }
        ) { UnixMilliseconds(rawValue: time.wallClock()) }
        self.poster = poster
        work = apps.flatMap { app in
            app.destinations.compactMap { destination in
                guard let queue = queues[app.labels], let pace = paces[destination.name] else { return nil }
                let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let forwarder = Forwarder(
                    app: app.labels,
                    name: destination.name,
                    pace: pace,
                    claim: { try await queue.claim(for: destination.name, atMost: $0) },
                    post: { await poster.post($0, to: destination.url) },
                    end: { try await queue.end($0) },
                    postpone: { try await queue.postpone($0, by: $1, because: $2) },
                    count: { metrics.forward($0, of: app.labels, to: destination.name) },
                    time: time,
                    report: report
                )
                return Work(labels: app.labels, forwarder: forwarder, wakes: wakes, wake: wake)
            }
        }
    }

    /// The queues of the apps that forward, by ``ReceivedApp/labels``; the queues in a ledger share their sessions.
    private static func queues(of apps: [ReceivedApp]) -> [String: ForwardQueue] {
        var known: [(ledger: Ledger, claiming: PostgresPool, recording: PostgresPool)] = []
        var queues: [String: ForwardQueue] = [:]
        for app in apps where !app.destinations.isEmpty {
            let shared = known.first { $0.ledger.isSame(as: app.ledger) }
            func pool() -> PostgresPool {
                app.ledger.separatePool(sessions: Self.sessions, patience: connectPatience)
            }
            let sessions = shared ?? (app.ledger, claiming: pool(), recording: pool())
            if shared == nil { known.append(sessions) }
            queues[app.labels] = app.ledger.forwards(
                of: app.origin.app,
                claiming: sessions.claiming,
                recording: sessions.recording
            )
        }
        return queues
    }

    /// Lets the forwarders of an app look for notifications that are due.
    func wake(_ app: ReceivedApp) {
        for work in work where work.labels == app.labels { work.wake.yield() }
    }

    /// What is left to forward of an app; empty if it forwards nothing.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    func counts(of app: ReceivedApp) async throws -> [ForwardCounts] { try await queues[app.labels]?.counts() ?? [] }

    /// Forwards until ``finish()``, and returns when the requests in flight have ended.
    func run() async {
        await withTaskGroup { group in
            for work in work {
                group.addTask { await work.forwarder.run(work.wakes) { work.wake.yield() } }
            }
        }
        poster?.shutdown()
    }

    /// Takes no further notification.
    func finish() {
        for work in work { work.wake.finish() }
    }

    /// Gives up the notifications whose term has ended, also those for a URL that no job names any more.
    func giveUpOld() async {
        for app in apps {
            do {
                let pool = app.ledger.pages.pool
                let queue = app.ledger.forwards(of: app.origin.app, claiming: pool, recording: pool)
                for (url, number) in try await queue.giveUpOld().sorted(by: { $0.key < $1.key }) {
                    let what = "\(counted(number, "notification")) not delivered to \(url)"
                    report(.remark("\(what) in \(ForwardQueue.term.inWords) and given up"))
                }
            } catch {
                report(.forwardingWaits(error))
            }
        }
    }
}
