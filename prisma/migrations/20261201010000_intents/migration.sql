-- AlterTable
ALTER TABLE "route_decisions" ADD COLUMN     "by_id" UUID,
ADD COLUMN     "classifier_ms" INTEGER,
ADD COLUMN     "classifier_tokens" INTEGER,
ADD COLUMN     "confidences" JSONB,
ADD COLUMN     "corrects_id" UUID,
ADD COLUMN     "evidence" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "action_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "head_at_end_id" UUID,
ADD COLUMN     "segment_count" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "checkpoint_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "fork_revision_id" UUID,
ADD COLUMN     "forked_from_checkpoint_id" UUID,
ADD COLUMN     "forked_from_run_id" UUID,
ADD COLUMN     "intent_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "intent_head_id" UUID,
ADD COLUMN     "parent_id" UUID,
ADD COLUMN     "protocol" TEXT;

-- CreateTable
CREATE TABLE "intent_revisions" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "task_id" UUID NOT NULL,
    "previous_id" UUID,
    "protocol" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "requirements" JSONB NOT NULL,
    "change_kind" TEXT NOT NULL,
    "run_id" UUID,
    "message_id" UUID,
    "author_id" UUID NOT NULL,
    "note" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "intent_revisions_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "run_intent_bindings" (
    "project_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "session_id" UUID NOT NULL,
    "base_id" UUID,
    "active_id" UUID,
    "relation" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "by_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_intent_bindings_pkey" PRIMARY KEY ("project_id","run_id","number")
);

-- CreateTable
CREATE TABLE "requirement_states" (
    "project_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "requirement_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "run_id" UUID,
    "action_id" UUID,
    "by_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "requirement_states_pkey" PRIMARY KEY ("project_id","session_id","requirement_id","number")
);

-- CreateTable
CREATE TABLE "checkpoints" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "run_id" UUID,
    "label" TEXT,
    "sequence" INTEGER NOT NULL,
    "message_sequence" INTEGER NOT NULL,
    "revision_id" UUID,
    "by_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoints_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "protocol_segments" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "protocol" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "phase" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "opened_by" TEXT NOT NULL,
    "closed_by" TEXT,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "protocol_segments_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateTable
CREATE TABLE "actions" (
    "project_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "run_id" UUID NOT NULL,
    "segment_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "tool" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "governed_by" TEXT,
    "arguments_digest" TEXT,
    "protocol" TEXT NOT NULL,
    "phase" TEXT NOT NULL,
    "decision" TEXT NOT NULL,
    "code" TEXT,
    "approval_id" UUID,
    "ok" BOOLEAN,
    "result_digest" TEXT,
    "facts" JSONB,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "actions_pkey" PRIMARY KEY ("project_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "intent_revisions_project_id_session_id_number_key" ON "intent_revisions"("project_id", "session_id", "number");

-- CreateIndex
CREATE INDEX "run_intent_bindings_project_id_session_id_idx" ON "run_intent_bindings"("project_id", "session_id");

-- CreateIndex
CREATE UNIQUE INDEX "checkpoints_project_id_session_id_number_key" ON "checkpoints"("project_id", "session_id", "number");

-- CreateIndex
CREATE INDEX "protocol_segments_project_id_session_id_idx" ON "protocol_segments"("project_id", "session_id");

-- CreateIndex
CREATE UNIQUE INDEX "protocol_segments_project_id_run_id_number_key" ON "protocol_segments"("project_id", "run_id", "number");

-- CreateIndex
CREATE INDEX "actions_project_id_session_id_idx" ON "actions"("project_id", "session_id");

-- CreateIndex
CREATE UNIQUE INDEX "actions_project_id_run_id_number_key" ON "actions"("project_id", "run_id", "number");

-- CreateIndex
CREATE INDEX "sessions_project_id_parent_id_idx" ON "sessions"("project_id", "parent_id");

-- CreateIndex
CREATE INDEX "route_decisions_project_id_at_id_idx" ON "route_decisions"("project_id", "at" DESC, "id" DESC);

-- What the schema language can't say.

ALTER TABLE "intent_revisions"
  ADD CONSTRAINT "intent_revisions_kind" CHECK ("change_kind" IN ('INITIAL', 'REFINE', 'REPLACE', 'ROUTE_SWITCH', 'HANDOFF', 'CORRECTION')),
  ADD CONSTRAINT "intent_revisions_text" CHECK (length("text") <= 2000),
  ADD CONSTRAINT "intent_revisions_number" CHECK ("number" >= 1),
  ADD CONSTRAINT "intent_revisions_requirements" CHECK (jsonb_typeof("requirements") = 'array');
ALTER TABLE "run_intent_bindings"
  ADD CONSTRAINT "run_intent_bindings_relation" CHECK ("relation" IN ('CONTINUE', 'REFINE', 'REPLACE', 'SIDE_CHAT')),
  ADD CONSTRAINT "run_intent_bindings_reason" CHECK ("reason" IN ('TURN', 'REFINEMENT', 'HANDOFF', 'CORRECTION', 'REBIND', 'REROUTE')),
  ADD CONSTRAINT "run_intent_bindings_run" FOREIGN KEY ("project_id", "run_id") REFERENCES "runs" ("project_id", "id");
ALTER TABLE "requirement_states" ADD CONSTRAINT "requirement_states_state" CHECK ("state" IN ('OPEN', 'MET', 'DROPPED'));
ALTER TABLE "protocol_segments"
  ADD CONSTRAINT "protocol_segments_state" CHECK ("state" IN ('ACTIVE', 'COMPLETED', 'HANDED_OFF', 'ABORTED', 'FAILED')),
  ADD CONSTRAINT "protocol_segments_closed" CHECK (("state" = 'ACTIVE') = ("closed_at" IS NULL) AND ("state" = 'ACTIVE') = ("closed_by" IS NULL)),
  ADD CONSTRAINT "protocol_segments_run" FOREIGN KEY ("project_id", "run_id") REFERENCES "runs" ("project_id", "id");
CREATE UNIQUE INDEX "protocol_segments_one_active" ON "protocol_segments" ("project_id", "run_id") WHERE "state" = 'ACTIVE';
ALTER TABLE "actions"
  ADD CONSTRAINT "actions_decision" CHECK ("decision" IN ('ALLOWED', 'DENIED', 'NEEDS_APPROVAL')),
  ADD CONSTRAINT "actions_denied" CHECK (("decision" = 'DENIED') = ("code" IS NOT NULL)),
  ADD CONSTRAINT "actions_closed" CHECK (("ok" IS NULL) = ("closed_at" IS NULL) AND ("ok" IS NULL OR "decision" = 'ALLOWED')),
  ADD CONSTRAINT "actions_segment" FOREIGN KEY ("project_id", "segment_id") REFERENCES "protocol_segments" ("project_id", "id");
CREATE UNIQUE INDEX "actions_one_of_approval" ON "actions" ("project_id", "approval_id") WHERE "approval_id" IS NOT NULL;
CREATE INDEX "sessions_by_protocol" ON "sessions" ("project_id", "protocol", "last_activity_at" DESC, "id" DESC);

CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "intent_revisions" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "run_intent_bindings" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "requirement_states" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "checkpoints" FOR EACH ROW EXECUTE FUNCTION "append_only"();
CREATE TRIGGER "state_is_final" BEFORE UPDATE OF "state" ON "protocol_segments" FOR EACH ROW EXECUTE FUNCTION "state_is_final"('COMPLETED', 'HANDED_OFF', 'ABORTED', 'FAILED');

-- An action's result is told once.
CREATE FUNCTION "action_is_closed_once"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.closed_at IS NOT NULL OR (OLD.decision <> 'NEEDS_APPROVAL' AND NEW.decision <> OLD.decision) THEN
    RAISE EXCEPTION 'action % is closed', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "action_is_closed_once" BEFORE UPDATE ON "actions" FOR EACH ROW EXECUTE FUNCTION "action_is_closed_once"();

-- A session's task moves only to a revision of its own that names the one before as its previous: so the whole history
-- is reachable from the head. Looked at when the transaction ends, for the revision may come with the same statement.
CREATE FUNCTION "intent_head_follows"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM intent_revisions r
     WHERE r.project_id = NEW.project_id AND r.id = NEW.intent_head_id AND r.session_id = NEW.id
       AND r.previous_id IS NOT DISTINCT FROM coalesce(OLD.intent_head_id, OLD.fork_revision_id)
  ) THEN
    RAISE EXCEPTION 'the task of session % does not follow from the one before', NEW.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "intent_head_follows" AFTER UPDATE OF "intent_head_id" ON "sessions" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.intent_head_id IS DISTINCT FROM OLD.intent_head_id) EXECUTE FUNCTION "intent_head_follows"();

-- Runs of before are side chats of the general protocol, as they were routed.
INSERT INTO "run_intent_bindings" ("project_id", "run_id", "number", "session_id", "relation", "reason", "by_id", "at")
  SELECT "project_id", "id", 1, "session_id", "relation", 'TURN', "submitted_by", "offered_at" FROM "runs";
ALTER TABLE "runs" DROP COLUMN "relation";
INSERT INTO "protocol_segments" ("project_id", "id", "session_id", "run_id", "number", "protocol", "state", "phase", "facts", "opened_by", "closed_by", "opened_at", "closed_at")
  SELECT "project_id", gen_random_uuid(), "session_id", "id", 1, 'general-task@1',
         CASE "state" WHEN 'COMPLETED' THEN 'COMPLETED' WHEN 'CANCELLED' THEN 'ABORTED' WHEN 'FAILED' THEN 'FAILED' WHEN 'TIMED_OUT' THEN 'FAILED' ELSE 'ACTIVE' END,
         'understand', '{}', 'ROUTE', CASE WHEN "ended_at" IS NOT NULL THEN 'END' END, "offered_at", "ended_at"
    FROM "runs";
UPDATE "runs" SET "segment_count" = 1;

-- No run is ever without its binding and without a segment.
CREATE FUNCTION "run_is_bound"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM run_intent_bindings WHERE project_id = NEW.project_id AND run_id = NEW.id)
     OR NOT EXISTS (SELECT FROM protocol_segments WHERE project_id = NEW.project_id AND run_id = NEW.id) THEN
    RAISE EXCEPTION 'run % is bound to no task or is under no protocol', NEW.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "run_is_bound" AFTER INSERT ON "runs" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION "run_is_bound"();
