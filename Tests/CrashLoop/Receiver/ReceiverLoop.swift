import ArgumentParser
import FoundationEssentials
import TestSupport

/// Rounds of ``ReceiverRound`` until enough faults have hit the receivers.
struct ReceiverLoop {
    let tools: RoundTools
    let kills: Int
    let seed: UInt64
    let keep: String

    /// - Throws: `ExitCode` 1 when a promise was broken.
    func run() async throws {
        var hits: [ReceiverFault: Int] = [:]
        var seed = seed
        var left = kills
        let began = ContinuousClock.now
        while left > 0 {
            let (found, broken) = try await play(seed: seed, faults: min(left, ReceiverRound.faults))
            hits.merge(found) { $0 + $1 }
            let survived = found.values.reduce(0, +)
            guard broken.isEmpty else {
                Say.line("seed \(seed): BROKEN after \(survived) faults")
                broken.prefix(20).forEach { Say.line("  \($0)") }
                Say.line("what was left is in \(keep)")
                let faults = min(left, ReceiverRound.faults)
                Say.line("again: scripts/crash-loop --receiver --seed \(seed) --kills \(faults)")
                throw ExitCode(1)
            }
            Say.line("seed \(seed): \(survived) faults survived")
            left -= survived
            seed += 1
        }
        Say.line("\n| Fault | Hits |\n|---|---:|")
        for fault in ReceiverFault.allCases { Say.line("| \(fault.rawValue) | \(hits[fault, default: 0]) |") }
        let seconds = Int((ContinuousClock.now - began) / .seconds(1))
        Say.line("\n\(kills) faults in \(seconds) s, no promise broken")
    }

    private func play(seed: UInt64, faults: Int) async throws -> ([ReceiverFault: Int], [String]) {
        let proxy = try ReceiverProxy()
        defer { proxy.stop() }
        return try await withTemporaryDirectory { directory in
            var options = SimulatedStore.Options(seed: Int(seed % 1_000_000) + 1, customers: 30)
            options.secondsSinceAnchor = 3 * 86_400
            // Apple's 157 hours are 16 seconds.
            options.arguments = [
                "--notify-url", "http://127.0.0.1:\(proxy.port)/notifications", "--retry-speed", "36000",
            ]
            return try await SimulatedStore.serving(options, in: directory + "/store") { store in
                let database = "receiver_\(seed)"
                let book = try await tools.newDatabase(database)
                var round = ReceiverRound(
                    seed: seed,
                    tools: tools,
                    database: database,
                    store: store,
                    proxy: proxy,
                    book: book,
                    job: try job(of: store),
                    random: SeededRandom(seed: seed &* 0x9E37_79B9)
                )
                let broken = await round.broken(faults: faults)
                for worker in round.workers {
                    worker.process.signal(9)
                    await worker.process.wait()
                }
                if !broken.isEmpty { try save(round, broken) }
                try await tools.drop(database)
                return (round.hits, broken)
            }
        }
    }

    private func job(of store: SimulatedStore) throws -> String {
        var job = JobText(storeJob: try String(contentsOfFile: store.directory + "/job.yaml", encoding: .utf8))
        job.name = "receiver"
        job.streams = [
            "transactionHistory: {}", "refundHistory: {for: all}",
            "notificationHistory: {scope: app, startDate: lastRun}",
        ]
        let path = store.directory + "/receiver.yaml"
        try Data(job.text.utf8).write(to: URL(filePath: path), options: .atomic)
        return path
    }

    /// Keeps the output of all processes and the store's directory.
    private func save(_ round: ReceiverRound, _ broken: [String]) throws {
        let files = FileManager.default
        if files.fileExists(atPath: keep) { try files.removeItem(atPath: keep) }
        try files.createDirectory(atPath: keep, withIntermediateDirectories: true)
        var text = "seed \(round.seed)\n\(round.hits)\n\n" + broken.joined(separator: "\n")
        for worker in round.workers {
            text += "\n\n== \(worker.name)\n\(worker.process.output)\(worker.process.errors)"
        }
        try Data(text.utf8).write(to: URL(filePath: keep + "/round.txt"))
        try files.copyItem(atPath: round.store.directory, toPath: keep + "/store")
    }
}
