import ActionKinds
import AppStoreModel
import JobSyntax
import Streams

extension JobFileReader {
    /// The keys of a job file with an action.
    private static let actionKeys = [
        "version", "name", "app", "appStore", "action", "input", "approval", "stopAfter", "limits", "output",
    ]

    /// Reads a job file with an action.
    func actionJob(_ root: JobNode) -> ActionJob? {
        if root["action"] == nil, let streams = root["streams"] {
            problems.report(
                streams.place,
                "is the section of a crawl",
                "the commands of storeledger actions need a job with action; storeledger run JOB runs this one",
                kind: .configuration
            )
            return nil
        }
        guard let file = Section(root, keys: Self.actionKeys, problems: problems, paths: paths) else { return nil }
        _ = file.integer("version", in: 1...1, "it must be 1", isRequired: true)
        let name = jobName(file)
        let app = app(file)
        let environment = app?.environment ?? .production
        let appStore = appStore(file, environment)
        let chosen = action(file)
        let input = input(file, of: chosen)
        let approval = approval(file)
        let stopAfter = stopAfter(file)
        let limits = limits(
            file,
            environment,
            isLoopback: appStore?.isLoopback ?? true,
            endpoints: endpoints(of: chosen?.type, in: environment)
        )
        let (postgres, results) = actionOutput(file, inputs: inputs(input, appStore))
        guard problems.isEmpty, let name, let app, let appStore, let chosen, let input, let postgres else {
            return nil
        }
        return ActionJob(
            path: path,
            name: name,
            app: app,
            appStore: appStore,
            action: chosen.type,
            defaults: chosen.defaults,
            input: input,
            approval: approval,
            stopAfter: stopAfter,
            limits: limits,
            postgres: postgres,
            resultsDirectory: results,
            warnings: warnings
        )
    }

    /// What the section `action` says.
    private struct Chosen {
        let type: any AppStoreAction.Type
        /// The defaults of columns.
        let defaults: [String: ActionValue]
        /// Whether the section has a policy, valid or not.
        let namesPolicy: Bool
        let policy: ConsumptionPolicy?
    }

    private func action(_ file: Section) -> Chosen? {
        let keys = AllActions.names.map(\.rawValue)
        let expected = "it must name one of \(keys.joined(separator: ", "))"
        guard let section = file.section("action", keys: keys, required: expected) else { return nil }
        let named = keys.filter(section.names)
        guard let name = named.first, named.count == 1, let type = AllActions.type(of: StreamName(name)) else {
            let found = named.isEmpty ? "names no action" : "names \(named.joined(separator: " and "))"
            problems.report(section.place, found, expected)
            return nil
        }
        // A folder has a value for each row only.
        let columns = type.takesFolder ? [] : type.columns.filter { !$0.isRequired }
        let ownKeys = columns.map(\.key) + (type.takesPolicy ? ConsumptionPolicy.keys : [])
        guard let own = section.section(name, keys: ownKeys, required: "write \(name): {}") else { return nil }
        let namesPolicy = type.takesPolicy && own.has("policy")
        if namesPolicy {
            for column in columns where own.has(column.key) {
                own.report(column.key, "write it into the answers of the policy")
            }
        } else if type.takesPolicy, own.has("customerConsented") {
            own.report("customerConsented", "without a policy, the input has the column customer_consented")
        }
        return Chosen(
            type: type,
            defaults: own.values(of: columns),
            namesPolicy: namesPolicy,
            policy: namesPolicy ? ConsumptionPolicy(own) : nil
        )
    }

    private func input(_ file: Section, of chosen: Chosen?) -> ActionJob.Input? {
        guard let chosen else { return nil }
        guard !chosen.namesPolicy else {
            if file.has("input") {
                file.report("input", "a policy answers the open refund requests of the ledger; remove one of both")
            }
            return chosen.policy.map(ActionJob.Input.policy)
        }
        guard !chosen.type.columns.isEmpty else {
            if file.has("input") { file.report("input", "\(chosen.type.name.rawValue) has no columns; remove it") }
            return ActionJob.Input.none
        }
        // A job whose values are all in the section of the action has one row.
        let needed = chosen.type.columns.filter(\.needsValue)
        if !file.has("input"), !needed.isEmpty, needed.allSatisfy({ chosen.defaults[$0.name] != nil }) {
            return ActionJob.Input.none
        }
        if chosen.type.takesFolder { return folder(file) }
        let keys = ["csv", "query"] + (chosen.type.groupsRows ? ["json"] : [])
        let expected = "it must name the rows: \(keys.joined(separator: " or "))"
        guard let section = file.section("input", keys: keys, required: expected), section.namesOneSource(of: keys)
        else { return nil }
        if let csv = section.section("csv", keys: ["path"]) {
            let path = csv.path("path", "it must be the path of a CSV file", isRequired: true)
            return path.map { .csv(path: paths.absolute($0)) }
        }
        if keys.contains("json"), let json = section.section("json", keys: ["path"]) {
            let path = json.path("path", "it must be the path of a JSON Lines file", isRequired: true)
            return path.map { .json(path: paths.absolute($0)) }
        }
        return section.query().map(ActionJob.Input.query)
    }

    private func folder(_ file: Section) -> ActionJob.Input? {
        let expected = "it must name the folder with the rows: directory"
        let path = file.section("input", keys: ["directory"], required: expected)?
            .path("directory", "it must be the path of a folder with messages.csv and defaults.csv", isRequired: true)
        return path.map { .folder(path: paths.absolute($0)) }
    }

    private func approval(_ file: Section) -> ActionJob.Approval {
        let section = file.section("approval", keys: ["required", "maximumRows", "expires"])
        let expected = "it must be a number of hours or days, such as 7d"
        let expires = section?.text("expires", expected) { Duration(jobText: $0) != nil }
        return ActionJob.Approval(
            isRequired: section?.flag("required") ?? true,
            maximumRows: section?.integer("maximumRows", in: 1...10_000_000),
            expires: expires.flatMap(Duration.init(jobText:)) ?? .seconds(7 * 86_400)
        )
    }

    private func stopAfter(_ file: Section) -> ActionJob.StopRule {
        let section = file.section("stopAfter", keys: ["consecutiveRejections", "rejectedShare"])
        return ActionJob.StopRule(
            consecutiveRejections: section?.integer("consecutiveRejections", in: 1...1_000_000).map { Int($0) },
            rejectedShare: section?.number("rejectedShare", upTo: 1)
        )
    }

    /// The endpoints that an action uses, with Apple's limits: its own, and those that read its effect back.
    private func endpoints(
        of action: (any AppStoreAction.Type)?,
        in environment: AppStoreEnvironment
    ) -> [(StreamName, Double)] {
        let readBack = ActionReadBack.endpoints.map {
            ($0, AllStreams.requestsPerSecond(of: $0, in: environment))
        }
        guard let action else { return readBack }
        let divisor = action.divisor(in: environment)
        let followUp = action.followUp.map { ($0.endpoint, $0.requestsPerSecond / divisor) }
        let ownReadBack = action.readBack.flatMap { own in own.requestsPerSecond.map { (own.endpoint, $0 / divisor) } }
        let own = action.endpoints.map { ($0.name, $0.requestsPerSecond / divisor) }
        return own + readBack + [followUp, ownReadBack].compactMap(\.self)
    }

    private func actionOutput(
        _ file: Section,
        inputs: [(name: String, path: String)]
    ) -> (postgres: PostgresOutput?, results: String?) {
        let expected = "it must name postgres, the database of the ledger"
        guard let section = file.section("output", keys: ["postgres", "results"], required: expected) else {
            return (nil, nil)
        }
        let postgres = postgres(section)
        guard let results = section.section("results", keys: ["directory"]),
            let written = results.path(
                "directory",
                FileOutput.directoryRule,
                isRequired: true,
                where: { FileOutput.isOwnDirectory($0, absolute: paths.absolute($0)) }
            )
        else { return (postgres, nil) }
        refuseShared(in: results)
        let directory = paths.absolute(written)
        let files = [directory] + ActionResultFile.fileNames.map { JobPaths.joined(directory, $0) }
        for (name, path) in inputs where files.contains(where: { JobPaths.areSame($0, path) }) {
            problems.report(results.place(of: "directory"), "would replace \(name)", "choose another directory")
        }
        return (postgres, directory)
    }

    private func inputs(_ input: ActionJob.Input?, _ appStore: JobFile.AppStore?) -> [(name: String, path: String)] {
        var inputs = [("the job file", paths.jobFile)]
        if case .csv(let path) = input { inputs.append(("input.csv.path", path)) }
        if case .json(let path) = input { inputs.append(("input.json.path", path)) }
        if case .folder(let path) = input { inputs.append(("input.directory", path)) }
        if case .policy(let policy) = input, case .listed(.csv(let path, _)) = policy.consent {
            inputs.append(("customerConsented.csv.path", path))
        }
        return inputs + (appStore?.inputs ?? [])
    }
}
