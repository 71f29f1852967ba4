import { spawn } from 'node:child_process';

/** The program that opens a page on this desktop; undefined on a machine without one. */
export function browserOpener(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (platform === 'darwin') return 'open';
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined;
}

/** Opens the first page that it gets. */
export function openOnce(): (address: string) => void {
  let opened = false;
  return (address) => {
    if (!opened) openBrowser(address);
    opened = true;
  };
}

/** Opens a page in the browser of the desktop. Without a desktop, or when its program is missing, nothing happens. */
export function openBrowser(address: string, env = process.env, platform = process.platform): void {
  const opener = browserOpener(env, platform);
  if (!opener) return;
  const child = spawn(opener, [address], { stdio: 'ignore', detached: true, env });
  child.on('error', () => undefined); // the link is printed too
  child.unref();
}
