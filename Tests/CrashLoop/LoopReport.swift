import FoundationEssentials

/// The result of a loop, as text and as JSON.
struct LoopReport {
    let tally: Tally
    let seconds: Double
    let broken: [String]

    var table: [String] {
        var lines = ["", "| Crash point | Name | Hits | Missed |", "|---|---|---:|---:|"]
        lines += tally.rows.map { "| \($0.number) | \($0.name) | \($0.hits) | \($0.misses) |" }
        let perKill = tally.kills > 0 ? seconds / Double(tally.kills) : 0
        lines += [
            "",
            "\(tally.target.sites.count { tally.hits[$0.name] != nil }) of \(tally.target.sites.count) crash points hit",
            "\(tally.kills) kills in \(Self.round(seconds, 0)) s (\(Self.round(perKill, 2)) s each), "
                + "\(broken.isEmpty ? "no promise broken" : "\(broken.count) promises broken")",
        ]
        guard tally.target == .crawls else { return lines }
        lines += [
            "pages asked for in vain: \(tally.extraPages) in all, \(tally.allowedPages) may be; "
                + "worst round \(Self.round(tally.worstRework, 2)) of what may be"
        ]
        return lines
    }

    private static func round(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let text = "\((value * scale).rounded() / scale)"
        return digits == 0 ? String(text.prefix { $0 != "." }) : text
    }

    private struct Summary: Encodable {
        struct Point: Encodable {
            let number: String
            let name: String
            let hits: Int
            let missed: Int
        }

        let kills: Int
        let seconds: Double
        let broken: [String]
        let extraPages: Int
        let allowedPages: Int
        let worstRework: Double
        let points: [Point]
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(
                Summary(
                    kills: tally.kills,
                    seconds: seconds,
                    broken: broken,
                    extraPages: tally.extraPages,
                    allowedPages: tally.allowedPages,
                    worstRework: tally.worstRework,
                    points: tally.rows.map { .init(number: $0.number, name: $0.name, hits: $0.hits, missed: $0.misses) }
                )
            )
        }
    }
}
