import ArgumentParser
import FoundationEssentials
import Glibc
import Postgres
import TestSupport

/// Kills pipelines repeatedly and checks the state they leave; `scripts/crash-loop` runs it with its options.
@main
struct CrashLoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crash-loop",
        abstract: "Kills storeledger, its PostgreSQL and its connections, and checks the guarantees after each fault.",
        discussion: """
            Ends with 1 as soon as a promise is broken, and says how to repeat it; with 0 when every kill was survived
            and every crash point was hit (asked for of 200 kills or more).
            """
    )

    @Option(help: "The number of faults, 1 to 1000000.")
    var kills = 40

    @Option(help: "The seed of the first round; each further round has the next number.")
    var seed: UInt64 = 1

    @Option(help: "The number of concurrent processes, 1 to 8.")
    var workers = 3

    @Flag(help: "Kills storeledger actions instead of storeledger run.")
    var actions = false

    @Option(help: ArgumentHelp("Also injects this many faults into storeledger actions, 0 to 1000000.", valueName: "N"))
    var actionKills = 0

    @Option(help: ArgumentHelp("Also writes the result into this file, as JSON.", valueName: "FILE"))
    var json: String?

    @Flag(help: "Kills receivers of notifications in place of runs.")
    var receiver = false

    @Flag(help: "Prints every fault and its duration.")
    var verbose = false

    @Option(help: ArgumentHelp("Keeps the data for analysing a failure in this directory.", valueName: "DIR"))
    var keep: String

    @Option(help: ArgumentHelp("The executable storeledger-failpoints.", visibility: .hidden))
    var storeledger: String

    @Option(help: ArgumentHelp("The directory of postgres_start.", visibility: .hidden))
    var postgres: String

    @Option(help: ArgumentHelp("scripts/lib/postgres.sh", visibility: .hidden))
    var postgresLibrary: String

    func validate() throws {
        guard (1...1_000_000).contains(kills) else {
            throw ValidationError("--kills is \(kills); it must be from 1 to 1000000.")
        }
        guard (0...1_000_000).contains(actionKills), !actions || actionKills == 0 else {
            throw ValidationError("--action-kills is from 0 to 1000000, and not used with --actions.")
        }
        guard (1...8).contains(workers) else {
            throw ValidationError("--workers is \(workers); it must be from 1 to 8.")
        }
    }

    func run() async throws {
        do {
            try await loop()
        } catch let failure as SetUpFailure {
            Say.line("crash-loop: \(failure)")
            throw ExitCode(failure.code)
        }
    }

    private func loop() async throws {
        for executable in [storeledger, Executables.simulator]
        where !FileManager.default.isExecutableFile(atPath: executable) {
            throw SetUpFailure(code: 66, sentence: "\(executable) is missing; scripts/crash-loop builds it")
        }
        let tools = try await RoundTools(
            storeledger: storeledger,
            cluster: Cluster(
                directory: postgres,
                library: postgresLibrary,
                url: ProcessInfo.processInfo.environment["DATABASE_URL"] ?? ""
            ),
            isVerbose: verbose
        )
        if receiver { return try await ReceiverLoop(tools: tools, kills: kills, seed: seed, keep: keep).run() }
        try await play(Tally(actions ? .actions : .crawls), kills: kills, with: tools, json: json)
        if actionKills > 0 { try await play(Tally(.actions), kills: actionKills, with: tools, json: nil) }
    }

    /// Plays rounds until there were enough faults.
    private func play(_ tally: Tally, kills: Int, with tools: RoundTools, json: String?) async throws {
        var tally = tally
        let began = ContinuousClock.now
        var seed = seed
        while tally.kills < kills {
            let before = tally.kills
            let roundBegan = ContinuousClock.now
            var broken: [String] = []
            (tally, broken) = await tools.play(seed: seed, workers: workers, kills: kills, tally: tally, keep: keep)
            let elapsed = (ContinuousClock.now - roundBegan).formatted
            guard broken.isEmpty else {
                Say.line("seed \(seed): BROKEN after \(tally.kills - before) kills, \(elapsed) s")
                for sentence in broken.prefix(20) { Say.line("  \(sentence)") }
                if broken.count > 20 { Say.line("  and \(broken.count - 20) more") }
                Say.line("what was left is in \(keep)")
                let mode = tally.target == .actions ? "--actions " : ""
                Say.line(
                    "again: scripts/crash-loop \(mode)--seed \(seed) --kills \(max(1, tally.kills - before + 1)) --workers \(workers)"
                )
                report(tally, elapsed: ContinuousClock.now - began, broken: broken, json: json)
                throw ExitCode(1)
            }
            Say.line("seed \(seed): \(tally.kills - before) kills survived, \(elapsed) s")
            seed += 1
        }
        report(tally, elapsed: ContinuousClock.now - began, broken: [], json: json)
        if kills >= 200, !tally.neverHit.isEmpty {
            Say.line("crash-loop: never hit: \(tally.neverHit.joined(separator: ", "))")
            throw ExitCode(1)
        }
    }

    private func report(_ tally: Tally, elapsed: Duration, broken: [String], json: String?) {
        let report = LoopReport(tally: tally, seconds: elapsed / .seconds(1), broken: broken)
        for line in report.table { Say.line(line) }
        guard let json else { return }
        do {
            try report.json.write(to: URL(filePath: json), options: .atomic)
        } catch {
            Say.line("crash-loop: \(json) cannot be written: \(error)")
        }
    }
}

/// Prints a line of the result immediately.
enum Say {
    static func line(_ text: String) {
        print(text)
        fflush(nil)
    }
}

extension Duration {
    /// Seconds with one decimal.
    fileprivate var formatted: String { "\((self / .seconds(1) * 10).rounded() / 10)" }
}
