import FoundationEssentials
import Glibc
import Postgres

/// What something took: time on the wall, time on processors, and the log PostgreSQL wrote.
struct Cost: Sendable {
    /// Seconds.
    var wall = 0.0
    /// Seconds of user and system time: of this process and of the children it has waited for.
    var ours = 0.0
    /// The same of the PostgreSQL server with all its sessions.
    var server = 0.0
    /// Bytes.
    var log = 0.0

    static func += (left: inout Cost, right: Cost) {
        left.wall += right.wall
        left.ours += right.ours
        left.server += right.server
        left.log += right.log
    }

    /// What each run took, as a rate and a share for each of the `count` things of a `unit` it worked on.
    static func figures(_ name: String, _ costs: [Cost], of count: Int, _ unit: String) -> [Figure] {
        let count = Double(count)
        return [
            Figure(name, costs.map { count / $0.wall }, "\(unit)s/s"),
            Figure("\(name): PostgreSQL", costs.map { $0.server / count * 1e6 }, "us CPU/\(unit)"),
            Figure("\(name): storeledger", costs.map { $0.ours / count * 1e6 }, "us CPU/\(unit)"),
            Figure("\(name): log", costs.map { $0.log / count }, "bytes/\(unit)"),
        ]
    }
}

/// Reads the clocks around a piece of work.
struct CostMeter: Sendable {
    let pool: PostgresPool
    private let postmaster: Int

    /// - Parameter pool: Of a server on this machine.
    /// - Throws: ``Postgres/PostgresError``; what reading `/proc` throws.
    init(_ pool: PostgresPool) async throws {
        self.pool = pool
        let backend = try await pool.withConnection {
            try $0.run("SELECT pg_backend_pid() AS pid")[0].int32("pid")
        }
        postmaster = try ProcessTimes(of: Int(backend)).parent
    }

    func measure(_ work: () async throws -> Void) async throws -> Cost {
        let before = try await reading()
        try await work()
        let after = try await reading()
        return Cost(
            wall: after.wall - before.wall,
            ours: after.ours - before.ours,
            server: after.server - before.server,
            log: after.log - before.log
        )
    }

    private func reading() async throws -> Cost {
        let log = try await pool.withConnection {
            try $0.run("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS log")[0].int64("log")
        }
        var wall = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &wall)
        return Cost(
            wall: Double(wall.tv_sec) + Double(wall.tv_nsec) / 1e9,
            ours: seconds(of: Int32(RUSAGE_SELF.rawValue)) + seconds(of: Int32(RUSAGE_CHILDREN.rawValue)),
            server: try serverSeconds(),
            log: Double(log)
        )
    }

    private func seconds(of whom: __rusage_who_t) -> Double {
        var usage = rusage()
        unsafe getrusage(whom, &usage)
        let seconds = Double(usage.ru_utime.tv_sec) + Double(usage.ru_stime.tv_sec)
        let microseconds = Double(usage.ru_utime.tv_usec) + Double(usage.ru_stime.tv_usec)
        return seconds + microseconds / 1e6
    }

    /// Sessions that ended are counted with the process that started them.
    private func serverSeconds() throws -> Double {
        let children = try String(contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        let sessions = children.split(separator: " ").compactMap { Int($0) }
        // A session may end while the list is read.
        let times = [try ProcessTimes(of: postmaster)] + sessions.compactMap { try? ProcessTimes(of: $0) }
        return times.reduce(0) { $0 + $1.seconds }
    }
}

/// A line of `/proc/ID/stat` (proc(5)).
private struct ProcessTimes {
    let parent: Int
    /// User and system time, of the children waited for too.
    let seconds: Double

    init(of process: Int) throws {
        let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The name may contain anything; the state is the first field behind it.
        let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ").dropFirst()
        let numbers = fields.map { Double($0) ?? 0 }
        parent = Int(numbers[1])
        seconds = numbers[11...14].reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
