-- A page of a session's segments is read from the index in its order, however many the session has had.
DROP INDEX "protocol_segments_project_id_session_id_idx";
CREATE INDEX "protocol_segments_project_id_session_id_opened_at_id_idx" ON "protocol_segments"("project_id", "session_id", "opened_at", "id");
