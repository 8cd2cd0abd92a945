import FoundationEssentials
import Glibc
import TestSupport

/// A file system in memory, too small for what is written to it; only root may make one, and not in every container.
enum SmallDisk {
    static let isPossible: Bool = {
        let path = FileManager.default.temporaryDirectory.appending(path: "storeledger-mount-\(UUID().uuidString)").path
        guard unsafe mkdir(path, 0o700) == 0 else { return false }
        defer { unsafe rmdir(path) }
        guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return unsafe umount2(path, Int32(MNT_DETACH)) == 0
    }()

    /// Mounts it for `body` alone.
    static func with<R>(kilobytes: Int, _ body: (_ path: String) async throws -> R) async throws -> R {
        try await withTemporaryDirectory { path in
            let status = unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k")
            guard status == 0 else { throw NotMounted(errno: errno) }
            defer { unsafe umount2(path, Int32(MNT_DETACH)) }
            return try await body(path)
        }
    }

    struct NotMounted: Error {
        let errno: Int32
    }
}
