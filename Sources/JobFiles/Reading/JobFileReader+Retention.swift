import JobSyntax

extension JobFileReader {
    /// Reads the section `retention`; no terms if it is missing.
    func retention(_ file: Section) -> Retention {
        let keys = Retention.Part.allCases.map(\.rawValue)
        guard let section = file.section("retention", keys: keys) else { return Retention(terms: [:]) }
        if section.isEmpty {
            file.report(
                "retention",
                "it must have a term for archive, sendAttempts, items or receivedNotifications, such as archive: 400d"
            )
        }
        var terms: [Retention.Part: Duration] = [:]
        for part in Retention.Part.allCases {
            let text = section.text(part.rawValue, "it must be from 1d to 36500d, such as 400d or 48h") { text in
                Duration(jobText: text).map(Retention.terms.contains) ?? false
            }
            terms[part] = text.flatMap(Duration.init(jobText:))
        }
        return Retention(terms: terms)
    }
}
