/** Several files share the processors in the gate, so each limit of time is so much longer than that of a file by itself. */
export const PATIENCE = Number(process.env['GATE_PATIENCE'] ?? 1);
