import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import metrics from 'prom-client';

const answered = new Map<string, Map<number, number>>();

/** Counts one answered request. Tallied here and exported at a scrape, so that labels are checked and hashed once. */
export function countRequest(operation: string, status: number): void {
  const byStatus = answered.get(operation) ?? new Map<number, number>();
  answered.set(operation, byStatus);
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
}

/** Requests are counted for each operation and timed for each area: 576 histograms would be 600 KB a scrape. */
export const requests = new metrics.Counter({
  name: 'foyer_http_requests_total',
  help: 'Requests answered.',
  labelNames: ['operation', 'status'],
  collect() {
    for (const [operation, byStatus] of answered)
      for (const [status, count] of byStatus) this.inc({ operation, status }, count);
    answered.clear();
  },
});

const requestSeconds = new metrics.Histogram({
  name: 'foyer_http_request_duration_seconds',
  help: 'Time to the end of the answer, by area.',
  labelNames: ['area'],
  buckets: [0.005, 0.02, 0.05, 0.15, 0.5, 2, 10],
});

const areaSeconds = new Map<string, metrics.Histogram.Internal<'area'>>();

/** Records the duration of one request; labels of an area are checked and hashed once. */
export function timeRequest(area: string, seconds: number): void {
  const known = areaSeconds.get(area) ?? requestSeconds.labels({ area });
  areaSeconds.set(area, known);
  known.observe(seconds);
}

export const jobSeconds = new metrics.Histogram({
  name: 'foyer_job_duration_seconds',
  help: 'Time of one attempt of a job.',
  labelNames: ['kind', 'outcome'],
  buckets: [0.1, 1, 10, 60, 600, 3600],
});

/** Returns whether it answers the request. */
type Handler = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * `/metrics`, `/live` and the paths of `more` on a port of their own, never on the public one; port 0 disables it. `/live` uses
 * no store: it answers while the event loop runs. `/metrics` is 503 when a collector fails.
 */
export function serveMetrics(port: number, host: string, more: Handler = () => false): Server | undefined {
  if (port === 0) return undefined;
  metrics.collectDefaultMetrics();
  const server = createServer((request, response) => {
    if (request.url === '/live') response.end();
    else if (!more(request, response)) void answerScrape(response);
  });
  return server.listen(port, host);
}

async function answerScrape(response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.register.metrics();
    response.setHeader('Content-Type', metrics.register.contentType);
    response.end(text);
  } catch {
    response.statusCode = 503;
    response.end();
  }
}
