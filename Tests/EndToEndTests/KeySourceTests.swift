import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The private key where containers have it: in a variable, or in a file behind links.
@Suite(.migratedDatabase)
struct KeySourceTests {
    @Test func `a run signs with a key from a variable, with its line ends or as one line`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            var job = stage.job
            job.takeKeyFromVariable()
            let path = try await stage.migrated(job)
            let key = try String(contentsOfFile: stage.keyFile, encoding: .utf8)
            try FileManager.default.removeItem(atPath: stage.keyFile)
            for text in [key, key.replacing("\n", with: "\\n")] {
                for command in ["run", "doctor"] {
                    let outcome = try await stage.storeledger(
                        command,
                        path,
                        environment: ["APPSTORE_PRIVATE_KEY": text]
                    )
                    #expect(outcome.code == 0, "\(outcome.errors)\(outcome.output)")
                }
            }
            #expect(try await stage.store.requests().total > 2)
        }
    }

    @Test func `a run signs with a secret that Kubernetes has mounted for its group, and refuses one for all`()
        async throws
    {
        try await Stage.with(.init(customers: 2)) { stage in
            // The layout and the modes of a volume with `defaultMode: 0440` in a pod with `fsGroup`.
            let volume = stage.directory + "/secret"
            let version = "..2026_07_01_03_00_00.1234567890"
            try FileManager.default.createDirectory(
                atPath: "\(volume)/\(version)",
                withIntermediateDirectories: true
            )
            let file = "\(volume)/\(version)/SubscriptionKey.p8"
            try FileManager.default.moveItem(atPath: stage.keyFile, toPath: file)
            for (link, target) in [("..data", version), ("SubscriptionKey.p8", "..data/SubscriptionKey.p8")] {
                try FileManager.default.createSymbolicLink(atPath: "\(volume)/\(link)", withDestinationPath: target)
            }
            try #require(unsafe chmod(volume, 0o3777) == 0)
            var job = stage.job
            job.nameKey(volume + "/SubscriptionKey.p8")
            let path = try await stage.migrated(job)
            try #require(unsafe chmod(file, 0o440) == 0)
            try await stage.run(path)
            try #require(unsafe chmod(file, 0o444) == 0)
            let refused = try await stage.run(path, expecting: 78)
            #expect(refused.errors.contains("its mode is 0444, so other users can access it"), "\(refused.errors)")
        }
    }
}
