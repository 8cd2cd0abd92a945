import ArgumentParser

/// From the text of a JWS to a row ready for PostgreSQL, compared with what `openssl speed` says of the same machine.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "How many signed transactions a second become rows: every one verified, decoded and mapped.",
        discussion: """
            Rates of one core are of processor time, as those of openssl speed are, so that other work on the machine
            does not count; rates of several cores are of time on the wall, and mean something on an idle machine only.
            """
    )

    @Option(help: "Different transactions, 1000 to 200000; each is signed before anything is measured.")
    var records = 4_000

    @Option(help: "Transactions in a run, at least as many as there are records.")
    var work = 20_000

    @Option(help: "Runs that count, 1 to 100, after one that does not.")
    var runs = 5

    @Option(help: "The most threads at work, 1 to 64.")
    var threads = 2

    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    func validate() throws {
        for (option, value, range) in [
            ("--records", records, 1_000...200_000), ("--work", work, records...100_000_000), ("--runs", runs, 1...100),
            ("--threads", threads, 1...64),
        ] where !range.contains(value) {
            throw ValidationError("\(option) is \(value); it must be from \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run() async throws {
        try ReleaseBuild.require()
        let history = try SignedHistory(customers: records / 10)
        let stages = VerifyStages(history, work: work)
        var measured = VerifyFigures()
        for run in 0...runs {
            let openSSL = await OpenSSLSpeed.measure(threads: threads)
            let lone = stages.whole()
            let together = threads > 1 ? stages.whole(threads: threads) : nil
            let parts = stages.parts()
            guard run > 0 else { continue }  // the warm-up
            measured.add(lone: lone, together: together, openSSL: openSSL, parts: parts)
        }
        let figures = measured.figures(threads: threads)
        print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
    }
}
