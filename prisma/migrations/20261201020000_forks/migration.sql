-- DropIndex
DROP INDEX "sessions_project_id_parent_id_idx";

-- CreateIndex
CREATE INDEX "sessions_project_id_parent_id_created_at_id_idx" ON "sessions"("project_id", "parent_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "sessions_project_id_fork_revision_id_idx" ON "sessions"("project_id", "fork_revision_id");

-- What the schema language can't say.

-- A fork begins at a checkpoint or at a run of its parent; a task that it goes on from is one of before.
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_fork" CHECK (
  ("parent_id" IS NOT NULL)::int = ("forked_from_checkpoint_id" IS NOT NULL)::int + ("forked_from_run_id" IS NOT NULL)::int
  AND ("fork_revision_id" IS NULL OR "parent_id" IS NOT NULL) AND "parent_id" <> "id");

-- Where a fork began never changes, so nothing that its parent does later can reach it.
CREATE FUNCTION "fork_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'where session % began is fixed', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER "fork_is_fixed" BEFORE UPDATE OF "parent_id", "forked_from_checkpoint_id", "forked_from_run_id", "fork_revision_id"
  ON "sessions" FOR EACH ROW EXECUTE FUNCTION "fork_is_fixed"();
