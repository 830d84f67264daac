import type { CheckContext } from '../check.ts';
import { nameShape, proxyShape } from '../common-settings.ts';
import { resolverAt } from '../net/own-resolver.ts';
import { proxyIn } from './plan.ts';

type Settings = Readonly<Record<string, unknown>>;

/** A context whose names are looked up where the settings of a monitor say so, for whoever looks at its target in another way than its check. */
export function withItsNameServers(context: CheckContext, settings: Settings): CheckContext {
  const servers = nameShape().resolver.safeParse(settings['resolver']).data;
  if (servers === undefined) return context;
  return { ...context, resolver: resolverAt(servers, context.addresses, context.trace) };
}

/** The same with connections through the proxy of the settings too. */
export function onItsWay(context: CheckContext, settings: Settings): CheckContext {
  const { proxy, proxy_password: password, proxy_ca_certificates: authorities } = settings;
  const shape = proxyShape();
  const read = {
    proxy: shape.proxy.safeParse(proxy).data,
    proxy_password: shape.proxy_password.safeParse(password).data,
    proxy_ca_certificates: shape.proxy_ca_certificates.safeParse(authorities).data,
  };
  return { ...withItsNameServers(context, settings), proxy: proxyIn(read) };
}
