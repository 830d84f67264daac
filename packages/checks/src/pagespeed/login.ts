import type { Browser } from './browser.ts';
import type { ProxyLogin } from './proxy.ts';

/**
 * Has the browser say the password of its proxy once, in a tab of its own: from then on it says it by itself with every request, so
 * that nothing has to stop what is measured. Rejects when the browser does not get through.
 */
export async function logIn(browser: Browser, { port, username, password }: ProxyLogin): Promise<void> {
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const tell = (method: string, params: object = {}) => browser.send(method, params, String(sessionId));
  const say = (method: string, params: object) => tell(method, params).catch(() => undefined);
  browser.onEvent = ({ method, params }) => {
    const { requestId, authChallenge } = params as { requestId?: string; authChallenge?: { source?: string } };
    if (method === 'Fetch.requestPaused') void say('Fetch.continueRequest', { requestId });
    if (method !== 'Fetch.authRequired') return;
    const isProxy = authChallenge?.source === 'Proxy';
    const answer = isProxy ? { response: 'ProvideCredentials', username, password } : { response: 'CancelAuth' };
    void say('Fetch.continueWithAuth', { requestId, authChallengeResponse: answer });
  };
  await tell('Fetch.enable', { handleAuthRequests: true });
  await tell('Network.enable');
  // Nothing is shown (204), which the browser calls an abort.
  await tell('Page.navigate', { url: `http://127.0.0.1:${port}/` });
  await browser.send('Target.closeTarget', { targetId });
  browser.onEvent = () => undefined;
}
