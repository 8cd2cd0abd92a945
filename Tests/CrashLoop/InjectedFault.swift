/// A fault that the crash loop injects into a running pipeline.
enum InjectedFault: Sendable {
    /// SIGKILL to itself at a crash point.
    case point(PlannedPoint)
    /// SIGKILL at a random moment.
    case kill
    /// SIGSTOP at a random moment, until its leases have expired and other processes have taken them; then SIGCONT.
    case pause
    /// Like `pause`, with SIGSTOP to itself at a crash point.
    case stopAt(PlannedPoint)
    /// The connection is cut right after a page's COMMIT was sent, so that its outcome is unknown.
    case cutCommit
    /// SIGTERM: the process must stop in order and within 10 s.
    case terminate
    /// SIGTERM twice: the second signal ends the process at once.
    case terminateTwice
    /// `kill -9` of a server process of PostgreSQL, which then restarts all of them.
    case killBackend
    /// `kill -9` of PostgreSQL's first process, then a restart.
    case killPostmaster
    /// `pg_ctl stop -m immediate`, then a restart.
    case stopPostgresAtOnce
    /// A customer of the current batch is erased while it is sent, or while the next one is planned.
    case erasure
    /// The store closes some connections in the middle of a page or before the answer.
    case cutPages
    /// What may be sent changes while processes send, and one of them is killed.
    case interference(Interference)

    /// A change of what may be sent.
    enum Interference: String, CaseIterable, Sendable {
        case expiry = "approval expired"
        case withdrawal = "approval withdrawn"
        case newPolicy = "policy changed"
    }

    /// Its name in the histogram.
    var name: String {
        switch self {
        case .point(let planned): planned.point.name
        case .kill: "SIGKILL"
        case .pause: "SIGSTOP past the lease"
        case .stopAt: "SIGSTOP at a crash point"
        case .cutCommit: "COMMIT sent, connection cut"
        case .terminate: "SIGTERM"
        case .terminateTwice: "SIGTERM twice"
        case .killBackend: "PostgreSQL: kill -9 of a backend"
        case .killPostmaster: "PostgreSQL: kill -9 of the postmaster"
        case .stopPostgresAtOnce: "PostgreSQL: stop -m immediate"
        case .erasure: "a customer erased"
        case .cutPages: "connections to the store cut"
        case .interference(let change): change.rawValue
        }
    }

    private static let ofBoth: [InjectedFault] = [
        .kill, .pause, .stopAt(PlannedPoint(CrashSite.all[0], nth: 1)), .cutCommit, .terminate, .terminateTwice,
        .killBackend, .killPostmaster, .stopPostgresAtOnce,
    ]
    /// All faults in the histogram of a loop of actions.
    static let ofActions = ofBoth + [.erasure] + Interference.allCases.map { .interference($0) }
    /// The same of a loop of crawls.
    static let ofCrawls = ofBoth + [.cutPages]
}

/// A crash point, and at which of its passes to act.
struct PlannedPoint: Sendable {
    let point: CrashSite
    let nth: Int

    init(_ point: CrashSite, nth: Int) {
        self.point = point
        self.nth = nth
    }

    /// The value of `STORELEDGER_FAILPOINT`.
    func failpoint(_ action: String) -> String {
        point.first.map { "\($0)@\(nth),\(point.name)@1=\(action)" } ?? "\(point.name)@\(nth)=\(action)"
    }

    var first: PlannedPoint { PlannedPoint(point, nth: 1) }
}
