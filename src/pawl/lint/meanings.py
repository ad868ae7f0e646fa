"""What every code of ``problems[]`` means, in one line: the one source; docs/problems.md shows it and a test compares.

A section begins with ``#`` and its title. A row is codes, a bar and the meaning, in the words of the page; it goes
on in lines that are indented. Codes are stable: a row is added, and never changes what it says of an old code.
"""

from __future__ import annotations

MEANINGS = """\
# Files and their syntax (exit 1)
too-large | more bytes than are read
too-deep | more levels than are read
byte-order-mark | the file begins with a byte order mark, or is UTF-16
not-utf8 | a byte that is no UTF-8
control-character | a character on which loaders disagree
lone-surrogate | half of a surrogate pair
conflict-marker | an unfinished merge
directive | a line with `%`
several-documents | a second document in one file
empty-document | nothing in the file
not-a-mapping | the root is no mapping
duplicate-key | the same key twice; both lines are named
non-string-key | a key that reads as something else than text
merge-key | a plain `<<` as a key
anchor, alias, tag | YAML features that are not read
leading-zero | a number that would lose digits
not-a-number | NaN or infinity, which JSON does not have
number-too-large | beyond 2^53-1, or a float that overflows
tab-indent | a tab as indentation
unquoted-colon | a colon where no mapping can stand
yaml-syntax, json-syntax | other errors of the grammar
front-matter-open | front matter that is never closed
yaml-reader-missing | the compiled YAML reader is not installed
file-ending | a file that would be passed over because it does not end in .yaml
file-ignored | a file that is not read (warning)
file-not-found, not-a-file | nothing there, or no regular file
file-linked | a source file is a symbolic link to a file of the workspace, which no review of it would show
path-outside | a path that leads out of the workspace, also by a symbolic link
cannot-read, cannot-write, cannot-remove, cannot-lock, cannot-clean | the operating system said no
no-such-place, cannot-edit | a value in a file that cannot be replaced in its layout
file-exists, suite-exists | it is there already and is not overwritten
input-pair, inputs-invalid | inputs on the command line that do not read
# Procedures (exit 1)
kind-unknown | no kind that pawl knows
name-invalid, name-bad, name-not-path | no name, or not the file's path
version-invalid | no canonical X.Y.Z with optional aN, bN, rcN
procedure-field-unknown, procedure-field-missing, procedure-field-invalid | the shape of the document
requires-invalid | no name or no version specifier
requires-missing | the spec speaks of a procedure that is not required
requirement-unknown | nothing of that name is here or in the registry
requirement-unmet | no version fits the specifier; in a release (exit 3): not pinned together
requirement-cycle | requirements go round in a circle
tool-description-empty | nothing for a model to choose by
tool-name-clash | two tools that are used together would be exported under one name; case makes no difference
effect-invalid, binding-invalid | an empty or doubled effect; not exactly one implementation
schema-invalid | not valid by its metaschema, or does not compile
schema-dialect | neither 2020-12 nor draft-07
schema-root-type | the root lacks `type: object`
schema-keyword-unknown | a keyword that validators would ignore
schema-property-not-schema | a value in `properties` that is no schema
schema-required-unknown | a required name that nothing declares
schema-ref-remote, schema-ref-dangling, schema-ref-circle, schema-ref-dynamic, schema-id-nested | references that
  leave the schema, lead nowhere or in a circle, or move
schema-pattern | a pattern that cannot be matched in bounded time
schema-too-large | deeper or larger than is read
template-syntax, template-forbidden, template-undeclared | a template that does not read, does more than is allowed,
  or uses no declared input
template-bounds, template-value | stopped while rendering: too large, or a value that does not fit
prompt-input-unguarded | an optional input without default is printed
prompt-budget, prompt-too-large | the rendered prompt, or its fixed text alone, is larger than allowed
schema-default-invalid | a default of an input that its own schema refuses
input-invalid, input-missing, input-undeclared, call-invalid, result-invalid, value-invalid | a value that does not
  fit its schema
expression-invalid, expression-unknown-name, expression-not-bool, expression-too-long, expression-too-deep | a CEL
  expression
workflow-steps, workflow-step, workflow-step-twice, workflow-next, workflow-switch, workflow-switch-default,
  workflow-end, workflow-target | the shape of steps and where they lead
workflow-no-end, workflow-loop-unbounded, workflow-budget | a walk that would not end, or not within its budget
walk-budget, walk-ended, walk-expression, walk-no-branch, walk-no-result, walk-unknown-result | a walk that cannot go
  on
call-misfit, call-incomplete, call-wrong-kind | a step gives what it calls an argument that this never takes, not all
  that it requires, or calls it by another kind (3 in a release)
result-misfit | a step reads a field of a result that what was called never gives (3 in a release)
call-doubtful, result-doubtful | what a step gives can be refused, what it reads can be absent, or it cannot be told
  (warning)
# Lint (warnings; errors where a profile that registry.yaml lists refuses, exit 1)
schema-root-composition | anyOf, oneOf, allOf, not, if or enum at the root of an input schema
schema-open-object | an object without `additionalProperties: false`
schema-closed-object | an object that says `additionalProperties`, which an exporter takes out where it must
schema-optional-property | a property that is not required, which an exporter makes nullable where it must
schema-ref | a reference into the same schema, which an exporter expands where it must
schema-ref-cycle | a schema that contains itself
schema-depth | more levels than vendors take, references expanded
schema-type-array | a list of types
schema-boolean | `true` or `false` as a schema
schema-oneof, schema-allof | oneOf or allOf below the root
schema-keyword | a keyword that vendors refuse, such as patternProperties, prefixItems, not, if
schema-const, schema-default, schema-bound | const, default, exclusive bounds, which some vendors do not read
schema-property-name | a property's name with characters that vendors refuse, or too long
tool-name | a tool's name, prefix included, with characters that vendors refuse, or too long
tool-description-long | more characters than vendors read
tool-argument-undescribed | arguments without a description (note)
tool-count | more tools in one closure than vendors take, or than models choose well among
mcp-header | an `x-mcp-header` for which clients drop the tool
tool-output-closed | a closed outputSchema: a new field will be a major change
prompt-placeholder-unknown | what looks like an input and is none, or is not read so (warning)
prompt-input-unused | an input that no message uses (warning)
prompt-role-order | a system message after others (warning)
prompt-secret | a text of a procedure or of a suite seems to hold a secret (error)
prompt-blank-part | a message of blanks only (error)
prompt-trailing-space | the last message is the assistant's and ends in white space (error)
prompt-trailing-blank | lines that end in blanks (warning)
summary-missing, owner-missing | not given (warning)
requires-unused | required and used by no step (warning)
workflow-unreachable | a step that no walk comes to (warning)
workflow-input-unused | an input that no expression of the workflow uses (warning)
workflow-unguarded | an optional input, or the result of a step that a walk can go around, is read and never asked for
  with `has()` (warning)
# Settings and policy (exit 1 unless said otherwise)
settings-field-unknown, settings-field-missing, settings-field-invalid | the shape of registry.yaml
signer-twice, signer-bad | registry/allowed_signers: one key of two people, a line that is no signer; not adopted (1)
signer-wildcard | registry/allowed_signers: a key that signs for whoever fits a pattern, or for whom it certifies
  (warning)
role-bad | a role of people that is no word of `a-z`, `0-9`, `-` and `_`, or nearly `agent` or `service`
channel-name, channel-cycle, channel-unknown | a channel's name, order, or existence
lint-code-unknown, lint-ignore-refused | an ignore of lint whose code is none, or is always an error
tokens-uncounted | registry.yaml asks for an exact count, and the extra `tokens` is not installed
lint-ignore-unused | an ignore of lint that fits nothing (warning)
policy-field-unknown, policy-field-missing, policy-field-invalid, policy-empty, policy-duplicate, policy-name-twice |
  the shape of a policy, one without rules, a name used twice
rule-duplicate, rule-kind-unknown, rule-kind-twice, rule-enforce-live, rule-never-applies, glob-invalid,
  policy-test-invalid | a rule that cannot be meant
rule-class, rule-waiver, freeze-never | a rule of this kind is of another class; only a waivable rule says what its
  waivers need; a recurrence that never comes to a day
rule-test-failed | an example beside a rule got another answer
rule-untested | no example beside the rule is denied: a warning; with `policy: {require_tests: true}` in registry.yaml
  an error
rule-unmatched, rule-message-missing, rule-field-unknown | probably not meant (warning or note)
no-policy | nothing adopted, or nothing to adopt; a release answers 3
policy-older | the rules of an older policy without `--again` (exit 3)
policy-damaged | an adopted policy is not what was frozen (exit 6)
plan-live, plan-target | `policy plan`, `policy adopt`: a live pin would break a rule, a way back would close
  (warning)
plan-no-way-back | `policy plan`: a pin that could be rolled back could no longer be (warning)
plan-approval, plan-waiver | `policy plan`: an open approval would no longer count, a waiver would begin or cease to
  (warning)
plan-looser | a rule in force would hold less firmly, or not at all; a new key, a new role, one of a machine lost, a
  channel after another one (warning)
policy-grace | an adoption would make illegal at once what is live, and registry.yaml says `require_grace` (exit 3)
# Suites and evidence
suite-field-unknown, suite-field-missing, suite-field-invalid, suite-invalid, suite-versions-invalid, suite-name-twice
  | the shape of a suite, a name used twice (1)
suite-empty, suite-case-duplicate, suite-case-shape, suite-case-unasserted | cases that test nothing (1)
suite-assertion-unknown, suite-assertion-value, suite-assertion-field | an assertion (1)
suite-about-unknown | about a procedure that is nowhere (1)
case-failed, case-errored, case-skipped, case-inconclusive | a case that did not pass (1)
answer-no-json | a recorded answer that is no JSON (in a case's reasons)
nothing-changed | nothing that suites could test differs from the base, so nothing was tested (note)
case-unknown | `test --case` of a case that no chosen suite has (1)
nothing-tested | no case was run, and nothing is no pass (1)
starter-impossible | no starter could be made; a person must write the suite (1)
suite-missing | no suite is about the version (warning in check, 4 in a release)
suite-unread | a suite that does not read (4 in a promotion, warning in a rollback)
evidence-missing, evidence-failed, evidence-errored, evidence-skipped, evidence-inconclusive | no passing evidence for
  exactly this closure (4)
evidence-not-asked | suites were not run, because other checks refused already
evidence-passed, tests-kept | these checks hold
fewer-tests | fewer suites or cases than the release before (4)
# Versions, releases and serving
version-reused | other content under a published version (1)
bump-too-small | the version number promises less than what changed; the lowest right one is named (1; a warning in
  `bump`)
version-below-published | a number below everything published: an old line that is mended, or a slip (warning)
version-not-higher | a pre-release of a version that is published already (1)
name-unknown, version-unknown | never published (1)
code-unknown | `check --explain` of a code that is none (1)
version-missing, name-twice, to-and-ref, part-or-version, names-differ, base-and-names, output-inside, reason-missing,
  reason-bad, reason-secret, end-past, end-late, glob-bad, spares-bad, waiver-owner, review-missing, waiver-of-what,
  versions-bad, action-bad, usage | the command's words (2)
no-workspace | no registry/registry.yaml here or above (1)
not-pinned, never-live | not on the channel, or never was (1)
policy-adopted, closure-complete, calls-fit, rule-passed, rule-not-applicable | these checks hold
canaries-refused | the gate has refused everything that is known to be bad
canary-passed | the gate lets through what is known to be bad, so everything is refused (6)
channel-not-adopted | the policy in force knows no such channel (3)
channel-order | never live on the channel that comes first (3)
rule-failed, rule-errored | a rule says no, or cannot be evaluated, which is a no (3)
evidence-stale | the results of suites are older than a rule allows (4)
approval-needed | fewer people have approved this version than a rule wants (8)
approval-not-counted, waiver-not-counted | recorded, and it does not count, with the reason: whose it is, a role, a
  signature, the own version (8; a warning where it counts for another rule)
approval-not-asked, waiver-pending | no rule asks for it; it waits for a second person (note)
rule-unknown, rule-not-waivable | a waiver of a rule that the policy in force does not have, or that has no waivers
  (3)
waiver-too-long, glass-kept | a waiver, or its review, ends later than the policy allows; a rule does not allow to
  break the glass (3)
waiver-unknown, freeze-unknown | the record of that number is none (1)
signature-unknown | signed with a key that registry/allowed_signers does not give the actor (warning)
signing-failed, ssh-keygen-missing | the key cannot be used, or ssh-keygen is not there; nothing was recorded (1; a
  freeze is set all the same, with a warning)
soak-short | not live on another channel for as long as a rule wants (3)
frozen | the channel stands still, by a rule or by an intervention (7)
step-too-large | a larger step from what is pinned than a rule allows (3)
rule-waived, tests-waived | a rule says no, or there are fewer tests, and somebody waived that for a time (told, no
  refusal)
freeze-spares | a freeze is in force and does not hold this
withdrawn-refused | something in the closure is withdrawn, and a rule refuses that (7)
consistent-set | what moves along with `--with-requirements`, each with its reason, or would (note)
no-consistent-set | no set of versions meets every requirement (3 with `--with-requirements`); its reasons are
  warnings, or notes where a set was not asked for
no-target | no earlier version can be live now
target-skipped, way-out | what a rollback passed over; what leads on from a refusal (note)
work-tree-differs | the file holds what is published nowhere, or not committed, so `fix-forward` does not replace it
  (1)
rejected | rejected or rolled back on this channel (7)
halted | halted on this channel (7 when served, a warning otherwise)
deprecated, yanked, revoked, withdrawn-but-pinned, withdrawal-weaker | withdrawals: warn, no new pins, refused (7); a
  weaker one after a stronger (3)
withheld, served-with-warning | listed without a body; served with a warning
no-way-back | no earlier version to go back to (1 of `drill` and with `--require-way-back`, else a warning)
way-back-unknown | suites would have to run to know whether there is a way back; `pawl drill` runs them (warning)
way-back-closing | `check --base`: a suite that changed fails on a version that is live, to which a rollback would
  then be refused (warning)
nothing-to-drill | no pin has an earlier version, so a drill shows nothing (1)
pinned-already | `why` is asked about what is pinned: nothing would move (note)
waiver-ending, waiver-unused, waiver-ended | a waiver ends within 7 days and in the last quarter of its time; nothing
  pinned needs it; it has ended, and what it let in is pinned still (warning)
overridden | something pinned came in by a waiver; told until it is replaced (warning)
agent-decides | an AI agent adopts no policy and lifts nothing that somebody stopped: no `unfreeze`, `resume`,
  `unreject`, `restore` (3)
review-due, review-missed | a waiver that broke the glass is to be reviewed (warning); the time for it is over and
  nobody reviewed it: until the waiver ends (1 of `status`; 3 of `audit` where something is pinned by it). Until it is
  reviewed, the glass is not broken again for that rule and name (3 of `waive`)
ledger-not-asked | the ledger of runs cannot be read, so nothing is said of open runs (warning)
channel-empty, file-gone | nothing pinned; pinned and the file under procedures/ is gone
unchanged | it holds already, nothing was written (note)
source-uncommitted | it was published or adopted from files that Git has not committed, so a fresh clone has the
  frozen copy and lacks its source (note)
source-moved | a file changed while a command read it; run the command again (5)
conflict, locked | somebody else moved the state, or writes now; nothing was written (5)
wrong-branch | journals are written on another branch (2)
not-committed | recorded, and Git could not commit it; the next writing command does, once what Git said is mended
  (warning)
committed-late | what earlier commands recorded and Git had not committed is committed now (note)
detached-head | recorded and committed where no branch holds it; `git switch -c NAME` keeps it (warning)
not-finished | recorded, and not all that follows from the record could be written; the next writing command mends it
  (warning)
not-a-prompt, wrong-kind | another kind of procedure than was asked for (1)
channel-older | a snapshot or a workspace shows an older state of the channel than one that was seen
snapshot-missing, snapshot-other-channel, snapshot-too-old | a snapshot that is not used
agent-bad, channel-bad, max-age-bad, outcome-bad, two-sources | how the Python API was called
# Integrity (exit 6)
frozen-changed | a published version's file is not as it was published
journal-damaged | a record was changed, is missing (also against Git's last commit), or does not follow the one before
  it
clock-back | a record is of an earlier time than the one before it, or it is earlier now than the newest record: what
  had ended could count again (warning, from a minute on; also of `status`, `promote`, `rollback` and `remove`)
git-not-asked | Git cannot say what the last commit holds, so journals are checked by themselves alone (warning)
journal-truncated | a journal lacks its end: a record that a channel was judged on, or that a file kept elsewhere
  knows of (`verify --against`)
journal-forked | a journal has another record where a file kept elsewhere knows one (`verify --against`)
history-altered | a commit that led to this one changed or removed a record, a frozen version or evidence; a merge
  that drops what one side held does, too
history-mended | such a commit is there, and the file is today as it was first committed (note)
history-shallow | the clone is shallow, so the history before its oldest commit was not looked at (note)
anchor-unreadable | the file given to `verify --against` is no snapshot, record or projection
signature-forged | a record says verified and no signature shows it, or its signature is not one of the record
signatures-not-checked | ssh-keygen cannot be run, so signatures were not looked at (warning)
projection-damaged | registry/channels/ says something else than the journal
projection-missing, projection-behind | a copy that the next release writes again (warning)
evidence-changed, evidence-damaged, evidence-missing-file | stored evidence is not as it was recorded
file-unrecorded | a file that no record speaks of, so it counts for nothing (warning); or how many files were held
  against no record, since a journal does not read (note)
snapshot-damaged | a changed byte in a snapshot, or an unknown format
# Import, runs, Git
import-shape, import-page | no tools in the file, or one page of several (1)
refuse-name, refuse-schema, refuse-tool | a tool that cannot be used, by name (1)
import-stopped, import-existing | nothing was written, and why: a tool was refused, or a file is no tool or does not
  read
run-unknown, run-exists, run-ended, run-not-pinned | the run's id or state, or a use of what it was not started with
  (1 or 5)
run-elsewhere | runs that began on no record of this workspace: of one whose `.pawl/` came here, on a snapshot file,
  on another branch, or on a record that was taken back (warning)
ledger-busy, ledger-damaged, ledger-unusable, ledger-version | the ledger's file (5, 6, 1, 1)
ledger-value, ledger-closed | a value that the ledger cannot hold (1); used after it was closed (2)
git-missing, git-failed, git-no-identity, git-index-locked, git-branch-locked, git-branch-moved, git-unfinished,
  nested-repository | what Git said
push-without-git, no-upstream | `--push` and no repository here (2); the branch follows none of a remote (1)
push-unreachable, push-refused | the remote gave no answer, or said no; here everything is as it was before the
  command (1)
push-lost-race | somebody else pushed first, three times over, or moved what this command was to move; here everything
  is as it was before the command (5)
push-parted, push-blocked | this branch and the remote's each have commits that the other lacks; the remote is ahead,
  and local changes are in the way; nothing was changed (5)
push-not-taken-back | a commit that was not pushed stays here, as somebody else built on it, changed its files or
  moved the branch meanwhile, or Git could not write; the next `--push` pushes it, or says what to do (5). As a
  warning: the step forward to the remote's state stays
not-pushed | recorded here, not committed and so not pushed, and the command must not be repeated: commit the listed
  files and push, or let the next writing command with `--push` do both (1, or the code of the refusal that was
  recorded)
no-repository, unknown-revision, no-merge-base | a Git revision that cannot be compared with: no Git here, no such
  commit (or not fetched), no commit in common (1)
interrupted, crash | stopped by a person (130); a fault of pawl itself (70)
error, invalid, not-found, refused, integrity | an error without a code of its own
"""
