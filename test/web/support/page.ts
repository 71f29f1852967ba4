// A page of the app in Debian's Chromium. A test fails on anything that the page itself reports: an error in its console,
// an exception, a violation of the policy, a request to another origin, an answer of 5xx.
import type { BrowserContext, BrowserContextOptions, ConsoleMessage, Page, Request, Response } from 'playwright-core';
import { startBrowser } from '#support/hls-browser.ts';

export interface AppPage {
  page: Page;
  context: BrowserContext;
  /** What the page reported so far. */
  faults: readonly string[];
  /** Leaves out faults that the test causes on purpose. */
  expectFault(pattern: RegExp): void;
  /** Throws when the page reported a fault; closes the page. */
  close(): Promise<void>;
}

export interface Opened extends BrowserContextOptions {
  /** In place of a new browser context. */
  context?: BrowserContext;
}

/** Chromium reports an answer of 4xx as an error of the console; the app handles it. */
const HANDLED = /^Failed to load resource: the server responded with a status of 4\d\d/;

const WATCH = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));`;

function watch(page: Page, origin: string): { faults: string[]; expected: RegExp[] } {
  const [faults, expected]: [string[], RegExp[]] = [[], []];
  const note = (fault: string): void => {
    if (!expected.some((pattern) => pattern.test(fault))) faults.push(fault);
  };
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error' && !HANDLED.test(message.text())) note(`console: ${message.text()}`);
  });
  page.on('pageerror', (error: Error) => note(`exception: ${error.stack ?? error.message}`));
  page.on('request', (request: Request) => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).origin !== origin) note(`foreign: ${request.url()}`);
  });
  page.on('response', (response: Response) => {
    if (response.status() >= 500) note(`${response.status()}: ${response.url()}`);
  });
  return { faults, expected };
}

/** Opens a path of the app in a browser context of its own. */
export async function openApp(origin: string, path: string, options: Opened = {}): Promise<AppPage> {
  const { context: given, ...settings } = options;
  const context =
    given ?? (await (await startBrowser()).newContext({ locale: 'en-GB', colorScheme: 'dark', ...settings }));
  const page = await context.newPage();
  await page.addInitScript(WATCH);
  const { faults, expected } = watch(page, new URL(origin).origin);
  await page.goto(origin + path);
  return {
    page,
    context,
    faults,
    expectFault: (pattern) => void expected.push(pattern),
    async close() {
      await page.close();
      if (!given) await context.close();
      if (faults.length > 0) throw new Error(`the page reported faults:\n${faults.join('\n')}`);
    },
  };
}
