//! Serving until a signal says otherwise: the first asks what is under way to end, the second breaks it off, and a hang-up has the
//! configuration read again.

use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::server::ServerControls;

/// Serves; returns when everything is over.
#[cfg(unix)]
pub async fn serve(
    server: ProxyServer,
    controls: ServerControls,
    reload: &dyn Fn(&ServerControls),
) -> anyhow::Result<()> {
    use tokio::signal::unix::SignalKind;
    use tokio::signal::unix::signal;

    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let mut hang_ups = signal(SignalKind::hangup())?;
    let mut running = std::pin::pin!(server.run());
    let mut asked = false;
    loop {
        tokio::select! {
            () = &mut running => return Ok(()),
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
            _ = hang_ups.recv() => {
                reload(&controls);
                continue;
            }
        }
        if std::mem::replace(&mut asked, true) {
            controls.abort();
        } else {
            controls.stop();
        }
    }
}

/// Serves; returns when everything is over.
#[cfg(not(unix))]
pub async fn serve(
    server: ProxyServer,
    controls: ServerControls,
    _reload: &dyn Fn(&ServerControls),
) -> anyhow::Result<()> {
    let mut running = std::pin::pin!(server.run());
    tokio::select! {
        () = &mut running => return Ok(()),
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    controls.stop();
    tokio::select! {
        () = &mut running => return Ok(()),
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    controls.abort();
    running.await;
    Ok(())
}
