import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// A PostgreSQL of its own on a small disk in memory.
struct PrivateCluster {
    let directory: String
    let url: String

    /// Whether this process may mount a disk.
    static let isPossible: Bool = {
        let path = FileManager.default.temporaryDirectory.appending(path: "storeledger-disk-\(UUID().uuidString)").path
        guard unsafe mkdir(path, 0o700) == 0 else { return false }
        defer { unsafe rmdir(path) }
        guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return unsafe umount2(path, Int32(MNT_DETACH)) == 0
    }()

    static func with<R>(megabytes: Int, _ body: (PrivateCluster) async throws -> R) async throws -> R {
        let disk = "/tmp/storeledger-disk-\(UUID().uuidString)"
        guard unsafe mkdir(disk, 0o711) == 0,
            unsafe mount("tmpfs", disk, "tmpfs", 0, "mode=711,size=\(megabytes)m") == 0
        else { throw NotStarted(words: "no disk") }
        defer {
            unsafe umount2(disk, Int32(MNT_DETACH))
            unsafe rmdir(disk)
        }
        let directory = disk + "/cluster"
        let url = try await script("postgres_start", directory).split(separator: "\n").last.map(String.init)
        let cluster = PrivateCluster(directory: directory, url: try #require(url))
        do {
            let result = try await body(cluster)
            _ = try await script("postgres_stop", directory)
            return result
        } catch {
            _ = try? await script("postgres_stop", directory)  // the first error is the one to report
            throw error
        }
    }

    /// Starts the server again, if a full disk has stopped it.
    func start() async throws { _ = try await Self.script("postgres_start", directory) }

    func pool() -> PostgresPool {
        PostgresPool(conninfo: ConnectionString(url), size: 1, patience: .seconds(20))
    }

    private var filler: String { directory + "/../filler" }

    /// Takes all room but so many kilobytes.
    func fill(leaving kilobytes: Int) throws {
        var room = statvfs()
        try #require(unsafe statvfs(directory, &room) == 0)
        let bytes = Int(room.f_bavail) * Int(room.f_bsize) - kilobytes * 1_024
        try Data(count: max(0, bytes)).write(to: URL(filePath: filler))
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: filler) }

    private static func script(_ function: String, _ directory: String) async throws -> String {
        let library = Executables.checkout + "/scripts/lib/postgres.sh"
        let text =
            "set -euo pipefail; . '\(library)'; POSTGRES_FAST=1 \(function) '\(directory)' >&2; printf '%s\\n' \"${DATABASE_URL:-}\""
        let search = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        return try await withChildProcess("/bin/bash", ["-c", text], environment: search) { process in
            let code = await process.wait()
            guard code == 0 else { throw NotStarted(words: process.errors) }
            return process.output
        }
    }

    struct NotStarted: Error {
        let words: String
    }
}
