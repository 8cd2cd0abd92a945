/// What is done to a pipeline at work.
enum Blow: Sendable {
    /// SIGKILL to itself at a crash point.
    case point(PlannedPoint)
    /// SIGKILL at any moment.
    case kill
    /// SIGSTOP at any moment, until its leases have run out and been taken over; then SIGCONT.
    case pause
    /// SIGSTOP to itself at a crash point, else the same.
    case stopAt(PlannedPoint)
    /// The connection a page's COMMIT was just sent on is cut: did it take place?
    case cutCommit
    /// SIGTERM: the end must come in order and soon.
    case terminate
    /// SIGTERM twice: the second one ends it at once.
    case terminateTwice
    /// `kill -9` of a server process of PostgreSQL, which then restarts all of them.
    case killBackend
    /// `kill -9` of PostgreSQL's first process, and a new start.
    case killPostmaster
    /// `pg_ctl stop -m immediate`, and a new start.
    case stopPostgresAtOnce
    /// The store closes some connections in the middle of a page and before any answer.
    case cutPages

    /// How the histogram calls it.
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
        case .cutPages: "connections to the store cut"
        }
    }

    /// Everything the histogram must show.
    static let kinds: [Blow] = [
        .kill, .pause, .stopAt(PlannedPoint(CrashSite.all[0], nth: 1)), .cutCommit, .terminate, .terminateTwice,
        .killBackend, .killPostmaster, .stopPostgresAtOnce, .cutPages,
    ]
}

/// A crash point, and when it is passed how often.
struct PlannedPoint: Sendable {
    let point: CrashSite
    let nth: Int

    init(_ point: CrashSite, nth: Int) {
        self.point = point
        self.nth = nth
    }

    /// What `STORELEDGER_FAILPOINT` says.
    func failpoint(_ action: String) -> String {
        point.first.map { "\($0)@\(nth),\(point.name)@1=\(action)" } ?? "\(point.name)@\(nth)=\(action)"
    }

    var first: PlannedPoint { PlannedPoint(point, nth: 1) }
}
