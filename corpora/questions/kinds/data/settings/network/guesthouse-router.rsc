# 2023-04-02 07:55:10 by RouterOS-like export, model hEX-r3, serial HB9-20417
# guest house of the abbey St. Ulfrid, backup before Easter
/system identity
set name=ulfrid-gw
/system clock
set time-zone-name=Europe/Brussels
/interface vlan
add name=vlan10-monks interface=bridge vlan-id=10 comment="refectory + cells"
add name=vlan20-guests interface=bridge vlan-id=20 comment="rooms 1-14"
add name=vlan30-shop interface=bridge vlan-id=30 comment="cheese shop till"
add name=vlan66-camera interface=bridge vlan-id=66 disabled=yes comment="abbot said no"
/ip address
add address=10.66.10.1/24 interface=vlan10-monks
add address=10.66.20.1/23 interface=vlan20-guests
add address=10.66.30.1/28 interface=vlan30-shop
add address=81.0.2.118/30 interface=ether1 comment="uplink Proxima"
/ip dhcp-server
add name=dhcp-guests interface=vlan20-guests lease-time=4h
add name=dhcp-monks interface=vlan10-monks lease-time=3d
/ip dhcp-server lease
add address=10.66.30.5 mac-address=00:1B:21:AA:04:9C comment="till"
add address=10.66.10.40 mac-address=3C:2A:F4:10:77:E1 comment="printer scriptorium"
add address=10.66.10.41 mac-address=3C:2A:F4:10:78:02 disabled=yes comment="printer infirmary (broken, scrap)"
/queue simple
add name=guests-cap target=vlan20-guests max-limit=20M/60M
add name=shop-prio target=vlan30-shop max-limit=10M/10M priority=1
/interface wireless
set ssid=Ulfrid-Gast band=5ghz channel=44
set ssid=Ulfrid-Intern band=2ghz channel=6 hide-ssid=yes
/system scheduler
add name=wifi-off start-time=22:15:00 on-event="guest wifi off (compline)"
add name=wifi-on start-time=06:30:00 on-event="guest wifi on"
/ip firewall filter
add chain=forward src=10.66.20.0/23 dst=10.66.10.0/24 action=drop comment="guests must not see monks"
add chain=forward src=10.66.30.5 dst=194.0.2.80 dst-port=4711 action=accept comment="card payments"
add chain=input in-interface=ether1 dst-port=8291 action=accept disabled=yes comment="remote help Frère Anselm, only on request"
/ip dns
set servers=9.9.9.9,81.0.2.117 cache-size=4096
/system note
set note="password in the sacristy safe. Ask Prior Gerulf."
