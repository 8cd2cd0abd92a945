import ActionKinds
import AppStoreModel
import Basics
import JobFiles
import StrictJSON

/// Makes the rows of a batch from a folder, and compares each with what Apple has.
///
/// A row is one request, in the order in which the requests are sent. The text of a message at Apple is known only if the ledger has
/// recorded its upload.
struct RetentionPlan {
    let folder: RetentionFolder
    let catalog: RetentionCatalog
    let job: ActionJob
    /// The values of the last upload of each image and message that the ledger has recorded, by subject.
    let uploads: [String: ActionParameters]
    private let header: InputHeader

    private var rows: [InputRow] = []
    /// The rows of images and messages in this plan, by subject.
    private var places: [String: Int] = [:]
    /// The line of `delete.csv` with each subject that is deleted.
    private var deletions: [String: Int] = [:]
    /// The images and messages that are named, by subject.
    private(set) var named: Set<String> = []

    init(
        _ folder: RetentionFolder,
        _ catalog: RetentionCatalog,
        _ uploads: [String: ActionParameters],
        of job: ActionJob
    )
        throws
    {
        self.folder = folder
        self.catalog = catalog
        self.job = job
        self.uploads = uploads
        header = try InputHeader(PublishRetentionMessages.columns.map(\.name), of: folder.directory, for: job)
    }

    /// The columns of a row, and the rows.
    static func rows(
        _ folder: RetentionFolder,
        _ catalog: RetentionCatalog,
        _ uploads: [String: ActionParameters],
        of job: ActionJob
    ) throws -> (columns: [String], rows: [InputRow]) {
        var plan = try RetentionPlan(folder, catalog, uploads, of: job)
        let messages = folder.messages.map { line in (line, plan.withImages(line)) }
        for (line, content) in messages { plan.addMessage(line, content) }
        for line in folder.defaults { plan.addDefault(line) }
        for kind in [RetentionRequestKind.deleteDefault, .deleteMessage, .deleteImage] { plan.addDeletions(kind) }
        plan.addUnknownDeletions()
        return (plan.header.columns, plan.rows)
    }

    /// The subjects that the ledger must look up: all that the files name.
    static func subjects(of folder: RetentionFolder) -> [String] {
        let messages = (folder.messages + folder.defaults).compactMap { $0["message_id"] }
        let points = folder.messages.compactMap { try? StrictJSON.parse(Array(($0["bullet_points"] ?? "").utf8)).array }
        let images =
            folder.messages.compactMap { $0["image_id"] }
            + points.joined().compactMap { $0.object?["imageIdentifier"]?.string }
        func ids(_ texts: [String]) -> [String] {
            texts.compactMap { UUIDText.bytes(ofAnyForm: $0).map(UUIDText.text(of:)) }
        }
        return Array(
            Set(
                ids(messages).map(PublishRetentionMessages.subject(ofMessage:))
                    + ids(images).map(PublishRetentionMessages.subject(ofImage:))
            )
        )
    }

    // MARK: Rows

    /// Adds a row with the verdict that the input alone gives.
    @discardableResult
    private mutating func add(
        _ cells: [String: String],
        _ line: RetentionFolder.Line,
        _ verdict: InputRow.Verdict = .valid,
        because problem: (rule: String, reason: String)? = nil,
        answer: JSONObject? = nil
    ) -> InputRow {
        let texts = PublishRetentionMessages.columns.map { cells[$0.name] ?? "" }
        var row = header.row(Int64(rows.count + 1), line: line.number, texts)
        row.verdict = row.problem == nil ? verdict : .invalid
        // A problem of a file explains more than the cells that are empty because of it.
        if row.problem == nil || verdict == .invalid { row.problem = problem ?? row.problem }
        if let found = row.problem { row.problem = (found.rule, line.sentence(found.reason)) }
        if row.verdict == .invalid { row.parameters = nil }
        row.answer = answer
        rows.append(row)
        return row
    }

    /// Adds the row of an image or a message, unless an earlier one is about the same.
    private mutating func addUpload(
        _ cells: [String: String],
        _ line: RetentionFolder.Line,
        of subject: String,
        because problem: (rule: String, reason: String)? = nil,
        _ entry: RetentionCatalog.Entry?
    ) {
        var (verdict, found) = (problem == nil ? InputRow.Verdict.valid : .invalid, problem)
        if found == nil, let difference = difference(cells, of: subject, entry) { (verdict, found) = difference }
        let answer = entry.map { JSONObject([.init(key: "state", value: .string($0.state))]) }
        add(cells, line, verdict, because: found, answer: answer)
        places[subject] = rows.count - 1
    }

    /// What distinguishes an image or a message from what Apple has; `nil` if Apple does not have it.
    private func difference(
        _ cells: [String: String],
        of subject: String,
        _ entry: RetentionCatalog.Entry?
    ) -> (InputRow.Verdict, (rule: String, reason: String)?)? {
        let noun = subject.hasPrefix("image/") ? "image" : "message"
        guard let entry else {
            let known = noun == "image" ? catalog.images.count : catalog.messages.count
            let new = places.filter { $0.key.hasPrefix(noun) && rows[$0.value].verdict == .valid }.count
            guard known + new >= RetentionLimits.perApp else { return nil }
            let code = noun == "image" ? 4_030_014 : 4_030_016
            return (
                .ineligible, ("too_many_\(noun)s", "Apple takes \(RetentionLimits.perApp) \(noun)s of an app (\(code))")
            )
        }
        let row = header.row(1, line: nil, PublishRetentionMessages.columns.map { cells[$0.name] ?? "" })
        guard let parameters = row.parameters else { return nil }
        if let earlier = uploads[subject], !earlier.isSameUpload(as: parameters) {
            let code = noun == "image" ? 4_090_000 : 4_090_001
            return (
                .invalid,
                (
                    "changed_\(noun)",
                    "Apple has another \(noun) under this identifier and does not replace it (\(code)); give the changed one a new \(noun)_id"
                )
            )
        }
        if entry.state == "REJECTED" {
            return (
                .ineligible,
                ("rejected_by_review", "Apple has rejected this \(noun); change it and give it a new \(noun)_id")
            )
        }
        guard uploads[subject] != nil || noun == "image" && cells["image_id"] == cells["derived_id"] else {
            let reason =
                "Apple has it (\(entry.state)); the ledger did not upload it, so its content cannot be compared"
            return (.same, ("content_not_known", reason))
        }
        return (.same, ("at_apple", "Apple has it (\(entry.state))"))
    }

    // MARK: Messages

    /// A message with the identifiers of its images.
    private struct Content {
        var cells: [String: String]
        var images: [String] = []
        var problem: (rule: String, reason: String)?
    }

    /// Adds the rows of a message's images.
    private mutating func withImages(_ line: RetentionFolder.Line) -> Content {
        var content = Content(cells: ["kind": RetentionRequestKind.message.rawValue])
        for column in ["message_id", "header", "body", "header_position", "alt_text"] {
            content.cells[column] = line[column]
        }
        if line["image_file"] != nil || line["image_id"] != nil {
            do throws(RetentionImage.Problem) {
                let id = try image(line["image_file"], line["image_id"], size: "FULL_SIZE", line)
                content.cells["image_id"] = id
                content.images.append(id)
            } catch {
                content.problem = ("image_file", "image_file: \(error.sentence)")
            }
        }
        do throws(RetentionImage.Problem) {
            try addBulletPoints(to: &content, line)
        } catch {
            content.problem = content.problem ?? ("bullet_points", "bullet_points: \(error.sentence)")
        }
        return content
    }

    /// Adds the row of an image that no earlier message has.
    ///
    /// - Returns: Its identifier.
    private mutating func image(
        _ file: String?,
        _ written: String?,
        size: String,
        _ line: RetentionFolder.Line
    ) throws(RetentionImage.Problem) -> String {
        var id: String?
        if let written {
            guard let bytes = UUIDText.bytes(ofAnyForm: written) else {
                throw RetentionImage.Problem(sentence: "\(written) is not a UUID")
            }
            id = UUIDText.text(of: bytes)
        }
        guard let file else {
            guard let id, let entry = catalog.images[id] else {
                throw RetentionImage.Problem(sentence: "neither the folder nor Apple has image \(id ?? "")")
            }
            guard entry.state != "REJECTED" else {
                throw RetentionImage.Problem(sentence: "Apple has rejected image \(id)")
            }
            named.insert(PublishRetentionMessages.subject(ofImage: id))
            return id
        }
        let image = try RetentionImage(file, in: folder.directory, size: size)
        let derived = image.identifier(for: job.app)
        let identifier = id ?? derived
        let subject = PublishRetentionMessages.subject(ofImage: identifier)
        if let place = places[subject] {
            guard rows[place].parameters?.text("image_sha256") ?? image.sha256 == image.sha256 else {
                throw RetentionImage.Problem(
                    sentence: "line \(rows[place].line ?? 0) gives image \(identifier) another picture"
                )
            }
        } else {
            let cells = [
                "kind": RetentionRequestKind.image.rawValue, "image_id": identifier, "image_file": file,
                "image_sha256": image.sha256, "image_size": size, "derived_id": derived,
            ]
            addUpload(cells, line, of: subject, catalog.images[identifier])
        }
        named.insert(subject)
        if let place = places[subject], rows[place].verdict == .invalid || rows[place].verdict == .ineligible {
            throw RetentionImage.Problem(sentence: rows[place].problem?.reason ?? "the image cannot be sent")
        }
        return identifier
    }

    /// Replaces `image_file` in the bullet points by the identifier of the image.
    private mutating func addBulletPoints(
        to content: inout Content,
        _ line: RetentionFolder.Line
    ) throws(RetentionImage.Problem) {
        guard let text = line["bullet_points"] else { return }
        guard let elements = (try? StrictJSON.parse(Array(text.utf8)))?.array else {
            content.cells["bullet_points"] = text
            return
        }
        var points: [JSONValue] = []
        for element in elements {
            guard let object = element.object, let file = object["image_file"]?.string else {
                points.append(element)
                continue
            }
            let id = try image(file, object["imageIdentifier"]?.string, size: "BULLET_POINT", line)
            content.images.append(id)
            let others = object.members.filter { !["image_file", "imageIdentifier"].contains($0.key) }
            points.append(.object(JSONObject(others + [.init(key: "imageIdentifier", value: .string(id))])))
        }
        content.cells["bullet_points"] = JSONWriter.text(.array(points))
    }

    private mutating func addMessage(_ line: RetentionFolder.Line, _ content: Content) {
        var cells = content.cells
        cells["waits_for"] = content.images.map(PublishRetentionMessages.subject(ofImage:)).joined(separator: " ")
        let id = line["message_id"].flatMap(UUIDText.bytes(ofAnyForm:)).map(UUIDText.text(of:))
        let subject = PublishRetentionMessages.subject(ofMessage: id ?? "")
        if let place = places[subject], id != nil {
            add(
                cells,
                line,
                .duplicate,
                because: ("duplicate", "message_id is the same as in line \(rows[place].line ?? 0)")
            )
            return
        }
        named.insert(subject)
        addUpload(cells, line, of: subject, because: content.problem, id.flatMap { catalog.messages[$0] })
    }

    // MARK: Defaults

    private mutating func addDefault(_ line: RetentionFolder.Line) {
        var cells = ["kind": RetentionRequestKind.defaultMessage.rawValue]
        for column in ["product_id", "locale", "message_id"] { cells[column] = line[column] }
        let id = line["message_id"].flatMap(UUIDText.bytes(ofAnyForm:)).map(UUIDText.text(of:)) ?? ""
        let message = PublishRetentionMessages.subject(ofMessage: id)
        let parameters = places[message].flatMap { rows[$0].parameters } ?? uploads[message]
        cells["waits_for"] = ([message] + (parameters?.images ?? []).map(PublishRetentionMessages.subject(ofImage:)))
            .joined(separator: " ")
        named.insert(message)
        let subject = "default/\(line["product_id"] ?? "")/\(line["locale"] ?? "")"
        if let place = places[subject] {
            let earlier = "product_id and locale are the same as in line \(rows[place].line ?? 0)"
            add(cells, line, .duplicate, because: ("duplicate", earlier))
            return
        }
        if let (verdict, problem) = problem(ofDefault: id, message) {
            add(cells, line, verdict, because: problem)
        } else if catalog.defaults[subject] == id {
            add(cells, line, .same, because: ("at_apple", "Apple has this default"))
        } else {
            add(
                cells,
                line,
                answer: catalog.defaults[subject].map { .init([.init(key: "before", value: .string($0))]) }
            )
        }
        places[subject] = rows.count - 1
    }

    /// Why a message cannot be a default; `nil` if it can.
    private func problem(ofDefault id: String, _ message: String)
        -> (InputRow.Verdict, (rule: String, reason: String))?
    {
        guard let place = places[message] else {
            switch catalog.messages[id]?.state {
            case nil: return (.invalid, ("message_id", "neither messages.csv nor Apple has message \(id)"))
            case "REJECTED"?: return (.ineligible, ("rejected_by_review", "Apple has rejected message \(id)"))
            default: return nil
            }
        }
        guard let problem = rows[place].problem, rows[place].verdict != .same else { return nil }
        return (.ineligible, ("message_id", "its message cannot be sent: \(problem.reason)"))
    }

    // MARK: Deletions

    /// What `delete.csv` calls the kinds.
    private static let words: [(String, RetentionRequestKind)] = [
        ("default", .deleteDefault), ("message", .deleteMessage), ("image", .deleteImage),
    ]

    private mutating func addDeletions(_ kind: RetentionRequestKind) {
        let word = Self.words.first { $0.1 == kind }?.0
        for line in folder.deletions where line["kind"] == word { addDeletion(line, kind) }
    }

    private mutating func addDeletion(_ line: RetentionFolder.Line, _ kind: RetentionRequestKind) {
        var cells = ["kind": kind.rawValue]
        let id = line["id"].flatMap(UUIDText.bytes(ofAnyForm:)).map(UUIDText.text(of:)) ?? line["id"]
        switch kind {
        case .deleteMessage: cells["message_id"] = id
        case .deleteImage: cells["image_id"] = id
        default: (cells["product_id"], cells["locale"]) = (line["product_id"], line["locale"])
        }
        let (subject, isThere): (String, Bool) =
            switch kind {
            case .deleteMessage:
                (PublishRetentionMessages.subject(ofMessage: id ?? ""), catalog.messages[id ?? ""] != nil)
            case .deleteImage: (PublishRetentionMessages.subject(ofImage: id ?? ""), catalog.images[id ?? ""] != nil)
            default:
                {
                    let subject = "default/\(line["product_id"] ?? "")/\(line["locale"] ?? "")"
                    return (subject, catalog.defaults[subject] != nil)
                }()
            }
        if let earlier = deletions[subject] {
            add(cells, line, .duplicate, because: ("duplicate", "line \(earlier) deletes the same"))
        } else if named.contains(subject) || places[subject] != nil {
            add(
                cells,
                line,
                .invalid,
                because: ("named_twice", "another file of the folder has \(subject); remove one of both")
            )
        } else if !isThere {
            add(cells, line, .same, because: ("not_at_apple", "Apple does not have it"))
        } else {
            add(cells, line)
            deletions[subject] = line.number
        }
    }

    /// Adds the lines of `delete.csv` that name no known kind.
    private mutating func addUnknownDeletions() {
        let known = Self.words.map(\.0)
        for line in folder.deletions where !known.contains(line["kind"] ?? "") {
            add([:], line, .invalid)
            let reason =
                "kind is \(printable(line["kind"] ?? "empty", limit: 40)); it must be \(known.joined(separator: ", "))"
            rows[rows.count - 1].problem = ("kind", line.sentence(reason))
        }
    }
}

extension ActionParameters {
    /// The identifiers of a message's images.
    var images: [String] {
        let points = elements("bullet_points").compactMap { $0.object?["imageIdentifier"]?.string }
        return [text("image_id")].compactMap(\.self) + points
    }

    /// Whether two uploads of one identifier have the same content.
    func isSameUpload(as other: ActionParameters) -> Bool {
        switch PublishRetentionMessages.kind(of: self) {
        case .image:
            text("image_sha256") == other.text("image_sha256") && text("image_size") == other.text("image_size")
        default: PublishRetentionMessages.body(of: self) == PublishRetentionMessages.body(of: other)
        }
    }
}
