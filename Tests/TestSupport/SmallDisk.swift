import FoundationEssentials
import Glibc

/// A small file system in memory, for tests with a full disk.
///
/// It needs root, and not every container allows it.
package struct SmallDisk: Sendable {
    package let path: String

    package static let isPossible: Bool = {
        let path = FileManager.default.temporaryDirectory.appending(path: "storeledger-mount-\(UUID().uuidString)").path
        guard unsafe mkdir(path, 0o700) == 0 else { return false }
        defer { unsafe rmdir(path) }
        guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return unsafe umount2(path, Int32(MNT_DETACH)) == 0
    }()

    /// Mounts it during `body`.
    ///
    /// Other users can traverse it.
    package static func with<R>(kilobytes: Int, _ body: (SmallDisk) async throws -> R) async throws -> R {
        try await withTemporaryDirectory { path in
            let status = unsafe mount("tmpfs", path, "tmpfs", 0, "mode=711,size=\(kilobytes)k")
            guard status == 0 else { throw NoRoom(errno: errno) }
            defer { unsafe umount2(path, Int32(MNT_DETACH)) }
            return try await body(SmallDisk(path: path))
        }
    }

    private var filler: String { path + "/filler" }

    /// Fills it except for this many kilobytes.
    package func fill(leaving kilobytes: Int) throws {
        var room = statvfs()
        guard unsafe statvfs(path, &room) == 0 else { throw NoRoom(errno: errno) }
        let bytes = Int(room.f_bavail) * Int(room.f_bsize) - kilobytes * 1_024
        try Data(count: max(0, bytes)).write(to: URL(filePath: filler))
    }

    /// Frees the room that ``fill(leaving:)`` took.
    ///
    /// The file is truncated before it is removed, because a process of another test may have it open.
    package func makeRoom() throws {
        guard unsafe truncate(filler, 0) == 0 else { throw NoRoom(errno: errno) }
        try FileManager.default.removeItem(atPath: filler)
    }

    struct NoRoom: Error {
        let errno: Int32
    }
}
