import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { browserOpener, openBrowser } from '#operator/local/browser.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';

describe('the browser of the desktop', () => {
  it('is opened where there is a desktop', () => {
    expect(browserOpener({ DISPLAY: ':0' }, 'linux')).to.equal('xdg-open');
    expect(browserOpener({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).to.equal('xdg-open');
    expect(browserOpener({}, 'darwin')).to.equal('open');
    expect(browserOpener({}, 'linux')).to.equal(undefined);
  });

  it('gets the address as one argument, and its absence is no fault', async () => {
    const folder = temporaryFolder('browser');
    const opened = join(folder, 'opened');
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > ${opened}\n`);
    chmodSync(join(folder, 'xdg-open'), 0o755);
    const address = 'http://127.0.0.1:8080/setup#claim=a&b;c';
    openBrowser(address, { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0' }, 'linux');
    await eventually(async () => existsSync(opened) && readFileSync(opened, 'utf8') !== '');
    expect(readFileSync(opened, 'utf8')).to.equal(address);
    openBrowser(address, { PATH: join(folder, 'nowhere'), DISPLAY: ':0' }, 'linux');
  });
});
